// Every page: complete, short enough for the smallest window, with defined terms and drawable formulas.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <variant>

#include "demos/experiments/demo.h"
#include "lessons/pages/blocks/task.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

constexpr int kMostWords = 100;        // including the question; more does not fit 1280 x 720
constexpr int kMostWordsOfTour = 360;  // longer texts need another page
constexpr std::size_t kFewestSteps = 2, kMostSteps = 6;

// MicroTeX draws other commands in red, without an error.
const std::set<std::string> kKnownCommands{
    "frac",   "dfrac",  "tfrac", "sqrt", "sum",  "int",    "left",       "right",      "text",         "mathrm",
    "mathbf", "cdot",   "times", "le",   "ge",   "approx", "mathcal",    "mathbb",     "operatorname", "overline",
    "log",    "exp",    "max",   "min",  "quad", "qquad",  "dots",       "ldots",      "alpha",        "beta",
    "gamma",  "theta",  "sigma", "mu",   "odot", "in",     "to",         "rightarrow", "lceil",        "rceil",
    "lfloor", "rfloor", "ln",    "pm",   "neq",  "Delta",  "varepsilon", "epsilon"};

std::string unknown_command(const std::string& markdown) {
  static const std::regex formula(R"(\$\$?([^$]+)\$\$?)"), command(R"(\\([A-Za-z]+))");
  for (std::sregex_iterator f(markdown.begin(), markdown.end(), formula), end; f != end; ++f) {
    const std::string inside = (*f)[1];
    for (std::sregex_iterator c(inside.begin(), inside.end(), command); c != end; ++c)
      if (!kKnownCommands.contains((*c)[1])) return (*c)[1];
  }
  return {};
}

int words_of_tour(const Page& page) {
  int words = 0;
  for (const TourStep& step : page.more)
    for (const Block& block : step.blocks) {
      if (block.type != &kTableBlock) words += count_words(block.words());
      if (const auto* task = block.as<TaskBlock>()) words += count_words(task->done);
    }
  return words;
}

bool braces_match(const std::string& text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

}  // namespace

TEST_CASE("every page is short enough for the smallest window, and its formulas can be drawn", "[pages]") {
  for (const Page* page : tests::course().pages()) {
    INFO(page->id);
    const std::string body = markdown_of(page->front), more = markdown_of(page->more);
    const std::string ask = page->question ? page->question->ask : "";
    const std::string because = page->question ? page->question->because : "";
    CHECK(count_words(body) + count_words(ask) <= kMostWords);
    CHECK(count_words(body) >= 30);
    static const std::regex apart(R"([0-9] (%|GiB|MiB|GB/s|TB/s|GB\b|MB\b))");  // lines must not break there
    const std::string done = task_of(*page) != nullptr ? task_of(*page)->done : "";
    CHECK_FALSE(std::regex_search(body + more + ask + because + done, apart));
    for (const std::string& part : {body, more, ask, because, done}) {
      CHECK(unknown_command(part) == "");
      CHECK(braces_match(part));
    }
  }
}

TEST_CASE("what goes further is a short tour, and says where it comes from", "[pages]") {
  for (const Page* page : tests::course().pages()) {
    INFO(page->id);
    CHECK(words_of_tour(*page) <= kMostWordsOfTour);
    CHECK(page->more.size() >= kFewestSteps);
    CHECK(page->more.size() <= kMostSteps);
    CHECK_FALSE(page->sources.empty());
  }
}

TEST_CASE("at most one question of a chapter asks for the height of a peak", "[pages]") {
  for (const Chapter& chapter : tests::course().chapters()) {
    INFO(chapter.title);
    const auto asks_for_peak = [](const Page* page) {
      const NumberQuestion* number = number_of(page->question ? &*page->question : nullptr);
      return number != nullptr && number->answer == find_answer("peak_of_step");
    };
    CHECK(std::count_if(chapter.pages.begin(), chapter.pages.end(), asks_for_peak) <= 1);
  }
}

TEST_CASE("every kind of memory is in the glossary", "[pages]") {
  for (int i = 0; i < record::kNumCategories; ++i) {
    const std::string key(record::key_of(static_cast<record::Category>(i)));
    INFO(key);
    CHECK(tests::course().glossary().contains(key));
  }
}

TEST_CASE("the lint sees what it is for", "[pages]") {
  CHECK(unknown_command(R"(a $\frac{1}{2}$ and $$\argmax x$$)") == "argmax");
  CHECK(unknown_command(R"($\frac{1}{2} \cdot \text{a}$)") == "");
  CHECK_FALSE(braces_match("a}"));
  CHECK(braces_match("{a}"));
}

namespace {

std::vector<std::string> paragraphs_of(const Page& page) {
  std::vector<std::string> texts{markdown_of(page.front), markdown_of(page.more)};
  if (page.question) texts.insert(texts.end(), {page.question->ask, page.question->because});
  if (const TaskBlock* const task = task_of(page)) texts.insert(texts.end(), {task->words, task->done});
  std::vector<std::string> paragraphs;
  for (const std::string& text : texts)
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find("\n\n", begin), text.size());
      paragraphs.push_back(text.substr(begin, end - begin));
      begin = end + 2;
    }
  return paragraphs;
}

// A model named in the text, formally or informally; empty if none.
std::string model_named_in(const std::string& words) {
  std::vector<std::string> names{"the 1B", "the 3B", "the 8B", "GPT-2", "BERT", "tiny model", "tiny Llama"};
  for (const record::ParamSpec& spec : experiments::training_step().schema)
    if (spec.key == "model")
      for (const record::Choice& choice : spec.choices)
        if (choice.key != "custom") names.emplace_back(choice.label);
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (const std::string& name : names) {
    const std::size_t at = words.find(name), end = at + name.size();
    if (at == std::string::npos || (at > 0 && is_letter(words[at - 1]))) continue;
    if (end == words.size() || !is_letter(words[end])) return name;
  }
  return {};
}

}  // namespace

TEST_CASE("no paragraph has the numbers of the step on show beside the name of one model", "[pages]") {
  std::size_t live = 0;
  for (const Page* page : tests::course().pages())
    for (const std::string& paragraph : paragraphs_of(*page)) {
      if (numbers_in(paragraph).empty()) continue;
      ++live;
      INFO(page->id << ": " << paragraph);
      CHECK(model_named_in(paragraph).empty());  // {model.name} follows the step, too
    }
  CHECK(live > 10);
}

TEST_CASE("a reason begins with what needs no run", "[pages]") {
  const record::Params settings(experiments::training_step().schema);
  for (const Page* page : tests::course().pages()) {
    if (!page->question) continue;
    INFO(page->id);
    const std::string shown = with_numbers(page->question->because, {.settings = &settings});
    CHECK(shown.starts_with("**Because**"));
    CHECK(shown.find("…") == std::string::npos);
  }
}
