// Reads questions and steps of a tour.
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/pages/acts.h"
#include "lessons/pages/entries.h"

namespace headroom::lessons {

namespace {

constexpr std::size_t kLeastChoices = 3, kMostChoices = 5;

struct QuestionLine {
  std::string_view text;
  int number = 0;
};
std::vector<QuestionLine> lines_of(const Part& part) {
  std::vector<QuestionLine> all;
  for (Lines lines(part.text); !lines.done();) all.push_back({lines.take(), part.line + static_cast<int>(all.size())});
  return all;
}

std::string take_ask(std::vector<QuestionLine>& lines, bool (*starts_list)(std::string_view)) {
  std::string ask;
  std::size_t at = 0;
  for (; at < lines.size() && !starts_list(lines[at].text); ++at) {
    ask += lines[at].text;
    ask += '\n';
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(at));
  return std::string(trimmed(ask));
}

double number_from(Entries& entries, std::string_view key, AxisUnit unit) {
  const std::string text = entries.need(key);
  if (unit == AxisUnit::kBytes) {
    const auto bytes = record::parse_bytes(text);
    if (!bytes) entries.complain(bytes.error().message);
    return bytes ? static_cast<double>(bytes.value()) : 0;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    entries.complain(fmt::format("{} takes a number.", key));
  return number;
}

NumberQuestion read_number(Entries& entries) {
  NumberQuestion question;
  const std::string name = entries.need("answer");
  question.answer = find_answer(name);
  if (question.answer == nullptr || question.answer->of == nullptr) {
    question.answer = nullptr;
    std::vector<std::string_view> known;
    for (const Answer& each : answers())
      if (each.of != nullptr) known.push_back(each.name);
    if (!name.empty()) entries.complain(unknown("answer", name, known));
    return question;
  }
  question.low = number_from(entries, "low", question.answer->unit);
  question.high = number_from(entries, "high", question.answer->unit);
  if (question.low >= question.high) entries.complain("The marker's range is empty: low is not below high.");
  return question;
}

bool is_choice(std::string_view line) { return line.starts_with("- ["); }
bool is_item(std::string_view line) { return line.size() > 2 && line[0] >= '1' && line[0] <= '9' && line[1] == '.'; }

// "- [x] words", then "misconception: key" and "reply: words".
ChoiceQuestion read_choices(const std::string& file, int block, const std::vector<QuestionLine>& lines,
                            Problems& problems) {
  ChoiceQuestion question;
  for (const QuestionLine& line : lines) {
    const std::string_view words = trimmed(line.text);
    if (words.empty()) continue;
    if (is_choice(line.text)) {
      const bool right = words.starts_with("- [x] ");
      if (!right && !words.starts_with("- [ ] "))
        problems.push_back({file, line.number, "A choice begins with \"- [x] \" (right) or \"- [ ] \" (wrong)."});
      question.choices.push_back({std::string(words.substr(std::min<std::size_t>(6, words.size()))), right, {}, {}});
      continue;
    }
    const std::size_t colon = words.find(':');
    const std::string_view key = words.substr(0, colon);
    const std::string value(colon == std::string_view::npos ? "" : trimmed(words.substr(colon + 1)));
    if (key == "misconception")
      question.choices.back().misconception = value;
    else if (key == "reply")
      question.choices.back().reply = value;
    else
      problems.push_back({file, line.number, "Below a choice come lines \"misconception: KEY\" and \"reply: words\"."});
  }
  const auto right = std::count_if(question.choices.begin(), question.choices.end(),
                                   [](const AnswerChoice& each) { return each.right; });
  if (question.choices.size() < kLeastChoices || question.choices.size() > kMostChoices || right != 1)
    problems.push_back({file, block,
                        fmt::format("A question of kind choice has {} to {} choices, one of them right.", kLeastChoices,
                                    kMostChoices)});
  std::set<std::string> replies;
  for (const AnswerChoice& each : question.choices) {
    if (each.right) continue;
    if (each.reply.empty() || each.misconception.empty())
      problems.push_back({file, block, fmt::format("The choice \"{}\" lacks its misconception or reply.", each.words)});
    else if (!replies.insert(each.reply).second)
      problems.push_back(
          {file, block, fmt::format("The choice \"{}\" has the same reply as another one.", each.words)});
  }
  return question;
}

OrderQuestion read_order(const std::string& file, int block, const std::vector<QuestionLine>& lines, Entries& entries,
                         Problems& problems) {
  OrderQuestion question{{}, entries.need("misconception"), entries.need("reply")};
  for (const QuestionLine& line : lines) {
    if (is_item(line.text))
      question.items.emplace_back(trimmed(line.text.substr(2)));
    else if (!trimmed(line.text).empty())
      problems.push_back({file, line.number, "The items of an order are lines \"1. words\", in the right order."});
  }
  if (question.items.size() < 3)
    problems.push_back({file, block, "A question of kind order has at least three items."});
  return question;
}

}  // namespace

const NumberQuestion* number_of(const QuestionSpec* question) {
  return question == nullptr ? nullptr : std::get_if<NumberQuestion>(&question->kind);
}

QuestionSpec read_question(const Document& document, const Part& part, Problems& problems) {
  Entries entries(document.file, "The question", part.entries, part.line, problems);
  QuestionSpec question;
  question.figure = entries.take("figure");
  const std::string kind = entries.need("kind");
  std::vector<QuestionLine> lines = lines_of(part);
  if (kind == "choice") {
    question.ask = take_ask(lines, is_choice);
    question.kind = read_choices(document.file, part.line, lines, problems);
  } else if (kind == "order") {
    question.ask = take_ask(lines, is_item);
    question.kind = read_order(document.file, part.line, lines, entries, problems);
  } else {
    question.ask = part.text;
    if (kind != "number") entries.complain("A question's kind is number, choice or order.");
    question.kind = read_number(entries);
  }
  entries.end();
  if (question.ask.empty()) problems.push_back({document.file, part.line, "The question has no text."});
  return question;
}

TourView read_view(const Document& document, const Part& part, const Page& page, Problems& problems) {
  Entries entries(document.file, "A step", part.entries, part.line, problems);
  TourView view;
  for (const Setting& each : entries.take_settings("view"))
    if (const auto set = set_in_view(view, each); !set) entries.complain(set.error().message);
  check_view(view, page, [&](std::string what) { entries.complain(std::move(what)); });
  entries.end();
  if (!part.text.empty())
    problems.push_back({document.file, part.line, "A step's words follow its block: close it with ``` before them."});
  return view;
}

}  // namespace headroom::lessons
