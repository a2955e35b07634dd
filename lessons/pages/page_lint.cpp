// Counts words, steps and numbers of a page, and compares its controls.
#include "lessons/pages/page_lint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <string>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "lessons/figure.h"
#include "lessons/pages/words.h"

namespace headroom::lessons {

namespace {

constexpr int kMostFrontWords = 90, kMostMoreWords = 250, kMostNumbers = 10, kMostMinutes = 60;
constexpr std::size_t kMostMoreSteps = 3;

// Base forms of verbs; forms in -s, -es, -d and -ed are found, too.
constexpr std::array<std::string_view, 104> kVerbs{
    "add",     "allocate", "are",     "ask",    "be",      "beat",    "become",   "begin",  "belong", "bound", "bring",
    "buy",     "can",      "cannot",  "change", "come",    "compute", "confirm",  "cost",   "count",  "cut",   "decide",
    "depend",  "differ",   "distort", "divide", "do",      "does",    "dominate", "double", "drop",   "end",   "fall",
    "fill",    "fit",      "follow",  "free",   "gain",    "get",     "give",     "go",     "grow",   "had",   "halve",
    "has",     "have",     "help",    "hide",   "hold",    "is",      "keep",     "leave",  "let",    "limit", "lose",
    "lower",   "make",     "matter",  "may",    "measure", "meet",    "move",     "must",   "need",   "pay",   "peak",
    "pick",    "predict",  "raise",   "reach",  "read",    "remove",  "repeat",   "reread", "round",  "run",   "save",
    "say",     "send",     "set",     "share",  "show",    "shrink",  "spend",    "split",  "start",  "stay",  "stop",
    "stopped", "store",    "survive", "take",   "teach",   "trade",   "train",    "turn",   "use",    "wait",  "want",
    "was",     "were",     "will",    "work",   "write"};

std::string without(const std::string& text, const char* pattern) {
  return std::regex_replace(text, std::regex(pattern), " ");
}

bool uses_settings(const Page& page) {
  return !calculates(page) || std::ranges::any_of(page.figures, [](const std::string& id) {
    const Figure* const figure = find_figure(id);
    return figure != nullptr && follows_settings(*figure);
  });
}

int words_in(const std::vector<Block>& blocks) {
  int words = 0;
  for (const Block& block : blocks)
    if (block.type != &kTableBlock) words += count_words(block.words());
  return words;
}

int numbers_of(const std::vector<Block>& blocks) {
  int numbers = 0;
  for (const Block& block : blocks)
    if (block.type != &kTableBlock) numbers += count_numbers(block.words());
  return numbers;
}

int line_of(const Document& document, std::string_view kind) {
  const auto found = std::ranges::find(document.parts, kind, &Part::kind);
  return found == document.parts.end() ? 1 : found->opened;
}

int line_of_entry(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.front, key, &Entry::key);
  return found == document.front.end() ? 1 : found->line;
}

}  // namespace

void lint_controls(const Document& document, const Page& page, Problems& problems) {
  if (demo_or_schema(page) == nullptr || !uses_settings(page)) return;
  const record::Params settings = settings_of(page);
  for (const std::string& id : page.figures) {
    const Figure* const figure = find_figure(id);
    if (figure == nullptr) continue;
    for (const record::ParamSpec& own : figure->schema)
      for (const record::ParamSpec& setting : settings.schema())
        if ((own.key == setting.key || own.label == setting.label) && settings.in_use(setting.key))
          problems.push_back(
              {document.file, line_of_entry(document, "figures"),
               fmt::format("The parameter \"{}\" ({}) of {} has the name of the setting \"{}\" ({}): let "
                           "the figure follow the setting, or rename the parameter.",
                           own.label, own.key, id, setting.label, setting.key)});
  }
}

int count_numbers(std::string_view markdown) {
  std::string text = without(std::string(markdown), R"(\$\$?[^$]*\$\$?|\]\([^)]*\)|\{[^}]*\})");
  for (const record::ParamSpec& spec : experiments::training_step().schema)
    if (spec.key == "model")
      for (const record::Choice& choice : spec.choices)
        for (std::size_t at = text.find(choice.label); at != std::string::npos; at = text.find(choice.label, at))
          text.erase(at, choice.label.size());
  int numbers = 0;
  for (const std::string& word : words_of(text)) {
    const std::size_t digit = word.find_first_of("0123456789");
    const bool begins = digit != std::string::npos &&
                        std::none_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(digit), [](char c) {
                          return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '#' || c == '_';
                        });
    const std::size_t end = begins ? word.find_first_not_of("0123456789", digit) : std::string::npos;
    const bool in_name = end != std::string::npos && word[end] == '-' && end + 1 < word.size();  // "8-bit"
    numbers += begins && !in_name ? 1 : 0;
  }
  return numbers;
}

bool has_verb(std::string_view sentence) {
  for (std::string word : words_of(sentence)) {
    std::erase_if(word, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; });
    std::ranges::transform(word, word.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    const std::string_view whole = word;
    for (const std::string_view verb : kVerbs) {
      const bool begins = whole.starts_with(verb);
      const std::string_view ending = begins ? whole.substr(verb.size()) : std::string_view();
      if (begins && (ending.empty() || ending == "s" || ending == "es" || ending == "d" || ending == "ed")) return true;
    }
  }
  return false;
}

void lint_page(const Document& document, const Page& page, Problems& problems) {
  const auto complain = [&](int line, std::string what) { problems.push_back({document.file, line, std::move(what)}); };
  if (page.lesson.goal.empty() && page.lesson.minutes == 0) return;
  if (page.lesson.goal.empty())
    complain(line_of_entry(document, "minutes"), "A page with minutes has a line \"goal: …\".");
  if (page.lesson.minutes == 0)
    complain(line_of_entry(document, "goal"), "A page with a goal has a line \"minutes: …\".");
  if (page.lesson.minutes < 0 || page.lesson.minutes > kMostMinutes)
    complain(line_of_entry(document, "minutes"), fmt::format("A page takes 1 to {} minutes.", kMostMinutes));
  if (!has_verb(page.lesson.claim))
    complain(line_of_entry(document, "claim"), "The claim has none of the verbs that page_lint.cpp lists.");
  const int front = words_in(page.front) + (page.question ? count_words(page.question->ask) : 0);
  if (front > kMostFrontWords)
    complain(line_of(document, "text"),
             fmt::format("First words and question have {} words; the limit is {}.", front, kMostFrontWords));
  int more = 0, numbers = numbers_of(page.front);
  for (const TourStep& step : page.more) {
    more += words_in(step.blocks);
    numbers += numbers_of(step.blocks);
  }
  if (more > kMostMoreWords)
    complain(line_of(document, "more"), fmt::format("Read more has {} words; the limit is {}.", more, kMostMoreWords));
  if (page.more.size() > kMostMoreSteps)
    complain(line_of(document, "more"),
             fmt::format("Read more has {} steps; the limit is {}.", page.more.size(), kMostMoreSteps));
  if (numbers > kMostNumbers)
    complain(line_of(document, "text"),
             fmt::format(
                 "First words and Read more have {} numbers; the limit is {}: the rest belongs in a figure or table.",
                 numbers, kMostNumbers));
}

}  // namespace headroom::lessons
