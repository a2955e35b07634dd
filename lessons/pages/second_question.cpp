// Draws settings and computes the key.
#include "lessons/pages/second_question.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/predict/step_settings.h"
#include "lessons/pages/entries.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/random.h"
#include "lessons/wording.h"

namespace headroom::lessons {

namespace {

constexpr std::size_t kFewestDraws = 3, kMostDraws = 500;
constexpr double kMostTolerance = 25;  // percent

// FNV-1a (Fowler, Noll, Vo), the same on every machine.
std::uint64_t seed_of(std::string_view id) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::vector<std::size_t> shuffled(std::size_t count, std::string_view id) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t state = seed_of(id);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[next_random(state) % i]);
  return order;
}

std::string value_text(const record::ParamSpec& spec, const record::Params& settings) {
  if (spec.kind == record::ParamKind::kBytes) return record::format_bytes(settings.integer(spec.key));
  if (spec.kind == record::ParamKind::kInteger) return record::format_count(settings.integer(spec.key));
  return std::string(record::label_of(spec, settings.as_text(spec.key)));
}

// "5 %" as 0.05; complains otherwise.
double read_tolerance(Entries& entries) {
  const std::string text = entries.take("tolerance");
  if (text.empty()) return SecondQuestion{}.tolerance;
  std::size_t end = 0;
  double percent = 0;
  try {
    percent = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const std::string_view unit = trimmed(std::string_view(text).substr(end));
  if (end == 0 || unit != "%" || percent <= 0 || percent > kMostTolerance)
    entries.complain(fmt::format("A tolerance is a percentage up to {:.0f}: \"tolerance: 5%\".", kMostTolerance));
  return percent / 100;
}

const Answer* read_answer(Entries& entries) {
  const std::string name = entries.need("answer");
  const Answer* const answer = find_answer(name);
  if (name.empty() || (answer != nullptr && answer->has_formula())) return answer;
  std::vector<std::string_view> known;
  for (const Answer& each : answers())
    if (each.has_formula()) known.push_back(each.name);
  entries.complain(unknown("answer by formula", name, known));
  return nullptr;
}

// Why the answer's formula does not take the page's settings; empty: it does.
std::string why_no_formula(const Answer& answer, const Page& page) {
  if (answer.by_settings != nullptr)
    return page.demo == answer.demo
               ? std::string()
               : fmt::format("The answer {} needs a page whose demo is {}.", answer.name, answer.demo);
  const bool step = experiments::trains(page.demo) || page.schema == experiments::shape_schema().id;
  return step ? std::string() : "This second question needs a page whose demo or schema is a training step.";
}

// Every combination must be accepted, use its drawn settings and have an answer.
void check_draws(const SecondQuestion& question, const record::Params& base, Entries& entries) {
  std::size_t draws = 1;
  for (const experiments::SweepAxis& axis : question.drawn) draws *= axis.values.size();
  if (draws < kFewestDraws || draws > kMostDraws)
    return entries.complain(
        fmt::format("There are {} combinations to draw, but there must be {} to {}.", draws, kFewestDraws, kMostDraws));
  for (const experiments::SweptSettings& point : experiments::swept_settings(base, question.drawn)) {
    const std::string label = point.series.empty() ? point.label : point.label + " " + point.series;
    if (const auto why = experiments::refused_combination(point.params))
      return entries.complain(fmt::format("The draw {}: {}", label, *why));
    for (const experiments::SweepAxis& axis : question.drawn)
      if (!point.params.in_use(axis.key))
        return entries.complain(fmt::format("The draw {} does not use {}.", label, axis.key));
    if (question.answer != nullptr && key_of(question, point.params) < 0)
      return entries.complain(fmt::format("The draw {} has no answer {}.", label, question.answer->name));
  }
}

std::string with_values(std::string_view markdown, const SecondQuestion& question, const record::Params& settings) {
  std::string text(markdown);
  for (const experiments::SweepAxis& axis : question.drawn) {
    const std::string name = "{" + axis.key + "}";
    const record::ParamSpec* const spec = find_spec(settings.schema(), axis.key);
    const std::string value = value_text(*spec, settings);
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}

}  // namespace

record::Params settings_of_attempt(const Page& page, int attempt) {
  auto draws = experiments::swept_settings(settings_of(page), page.lesson.second->drawn);
  const std::vector<std::size_t> order = shuffled(draws.size(), page.id);
  return draws[order[static_cast<std::size_t>(attempt) % order.size()]].params;
}

double key_of(const SecondQuestion& question, const record::Params& settings) {
  const Answer& answer = *question.answer;
  if (answer.by_settings != nullptr) return answer.by_settings(settings);
  return answer.by_formula(predict::step_settings(experiments::step_params(settings)));
}

std::string with_drawn(std::string_view markdown, const SecondQuestion& question, const record::Params& settings) {
  return with_numbers(with_values(markdown, question, settings), {.settings = &settings});
}

std::optional<SecondQuestion> read_second_question(BlockSource& source) {
  const Page& page = source.page;
  if (page.lesson.second) source.complain("A page has one second question.");
  if (!page.question) source.complain("A second question comes after the first.");
  if (demo_or_schema(page) == nullptr) return std::nullopt;
  Entries& entries = source.entries;
  SecondQuestion question{.ask = source.part.text, .because = entries.take("because"), .drawn = {}};
  question.answer = read_answer(entries);
  if (question.answer != nullptr)
    if (const std::string why = why_no_formula(*question.answer, page); !why.empty()) {
      source.complain(why);
      return std::nullopt;
    }
  question.tolerance = read_tolerance(entries);
  entries.need("draw");
  const record::Params base = settings_of(page);
  auto drawn = experiments::sweep_axes(base.schema(), entries.take_words("draw"));
  if (!drawn) {
    entries.complain(drawn.error().message);
    return std::nullopt;
  }
  question.drawn = std::move(drawn).value();
  if (question.drawn.empty()) return std::nullopt;
  check_draws(question, base, entries);
  if (question.ask.empty()) source.complain("The second question has no text.");
  const record::Params first = experiments::swept_settings(base, question.drawn).front().params;
  const auto check = [&](const char* kind, const std::string& words) {
    const Part part{.kind = kind, .text = with_values(words, question, first), .line = source.part.line};
    check_words(source.document, part, page, source.context, source.problems);
    for (const record::ParamSpec& spec : base.schema())
      if (part.text.find(fmt::format("{{{}}}", spec.key)) != std::string::npos)
        source.complain(fmt::format("The words name {{{}}}, which is not drawn.", spec.key));
  };
  check("question", question.ask);
  check("because", question.because);
  return question;
}

}  // namespace headroom::lessons
