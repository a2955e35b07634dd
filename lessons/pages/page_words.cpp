// Turns blocks into Markdown and checks their words.
#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "demos/experiments/schemas.h"
#include "demos/predict/cards/cards.h"
#include "demos/record/text.h"
#include "lessons/pages/acts.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

namespace {

int line_at(const Part& part, std::string_view text, std::size_t offset) {
  return part.line +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

void check_link(const std::string& target, const Part& part, const Page& page, const PageContext& context,
                const Complain& complain) {
  constexpr std::string_view kTerm = "term:";
  if (part.kind == "question") return complain("A question's own words cannot have links.");
  if (is_act(target)) {
    const auto act = parse_act(target);
    return act ? check_act(act.value(), page, complain) : complain(act.error().message);
  }
  if (!target.starts_with(kTerm))
    return complain(fmt::format("A page's links are term:…, set:…, view:… and page:…, not {}.", target));
  const std::string term = target.substr(kTerm.size());
  if (context.glossary.contains(term)) return;
  complain(unknown("term", term, names_of(context.glossary, &Glossary::value_type::first)));
}

// Empty if the page can show the live number. Pages that run nothing show the settings' numbers.
std::string why_no_number(const LiveNumber& number, const Page& page) {
  const experiments::DemoInfo& shape = experiments::shape_schema();
  const bool of_shape = calculates(page) && page.schema == shape.id;
  if (!of_shape && !experiments::trains(page.demo))
    return fmt::format("The number {} needs a page whose demo is a training step.", number.name);
  const record::Params settings(shape.schema);
  if (of_shape && number.text({.settings = &settings}).empty())
    return fmt::format("The number {} needs a run, but a page with a schema has none.", number.name);
  return {};
}

}  // namespace

std::vector<std::string> recordings_in_turn(const Page& page) {
  std::vector<std::string> names = page.recordings;
  std::ranges::stable_partition(names, [&](const std::string& name) { return name == page.shows; });
  return names;
}

std::string page_number(const Chapter& chapter, std::size_t page) {
  return fmt::format("{}.{}", chapter.number, page + 1);
}

std::string markdown_of(const std::vector<Block>& blocks) {
  std::string markdown;
  for (const Block& block : blocks) {
    const std::string words = block.words();
    if (!words.empty()) markdown += (markdown.empty() ? "" : "\n\n") + words;
  }
  return markdown;
}

std::string markdown_of(const std::vector<TourStep>& steps) {
  std::string markdown;
  for (const TourStep& step : steps)
    if (const std::string words = markdown_of(step.blocks); !words.empty())
      markdown += (markdown.empty() ? "" : "\n\n") + words;
  return markdown;
}

std::string unknown(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view nearest = record::nearest(name, known);
  return fmt::format("There is no {} {}{}.", kind, record::quoted(name),
                     nearest.empty() ? "" : fmt::format(": the nearest is {}", nearest));
}

std::string unknown_card(std::string_view name) {
  std::vector<std::string_view> known;
  for (const predict::Card& card : predict::cards())
    if (card.memory) known.push_back(card.name);
  return unknown("card", name, known);
}

std::vector<ShownCommand> commands_in(std::string_view markdown) {
  std::vector<ShownCommand> commands;
  static const std::regex inline_code(R"(`(headroom [^`]+)`)");
  for (Lines lines(markdown); !lines.done();) {
    const std::string line(lines.take());
    const bool code = line.starts_with("    ") || line.starts_with("headroom ");
    if (const std::string_view words = trimmed(line); code && words.starts_with("headroom ")) {
      commands.push_back({std::string(words), lines.number()});
      continue;
    }
    for (std::sregex_iterator found(line.begin(), line.end(), inline_code), last; found != last; ++found)
      commands.push_back({(*found)[1], lines.number()});
  }
  return commands;
}

void check_words(const Document& document, const Part& part, const Page& page, const PageContext& context,
                 Problems& problems) {
  static const std::regex link(R"(\]\(([^)]*)\))");
  const std::string& text = part.text;
  for (std::sregex_iterator found(text.begin(), text.end(), link), last; found != last; ++found) {
    if (part.kind == "formula") break;
    const int line = line_at(part, text, static_cast<std::size_t>(found->position()));
    check_link((*found)[1], part, page, context, [&](std::string what) {
      problems.push_back({document.file, line, std::move(what)});
    });
  }
  for (const NumberPlace& place : numbers_in(text)) {
    const LiveNumber* const number = part.kind == "formula" ? nullptr : find_number(place.name);
    const std::string why = number == nullptr ? std::string() : why_no_number(*number, page);
    if (!why.empty()) problems.push_back({document.file, line_at(part, text, place.begin), why});
  }
  if (!context.check_command) return;
  for (const ShownCommand& command : commands_in(text))
    if (const std::string why = context.check_command(command.text); !why.empty())
      problems.push_back(
          {document.file, part.line + command.line - 1, fmt::format("`{}` does not work: {}", command.text, why)});
}

}  // namespace headroom::lessons
