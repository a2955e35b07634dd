// Every page of the course: its parts are there, short enough for the smallest window, with terms that mean something
// and formulas that the renderer knows.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "app/page/page_text.h"
#include "lessons/chapter.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app::page;

namespace {

constexpr int kMostWords = 100;  // about 90; more does not fit a window of 1280 x 720

// What MicroTeX draws correctly. Others are drawn in red without an error.
const std::set<std::string> kKnownCommands{
    "frac",   "dfrac",  "tfrac", "sqrt", "sum",  "int",    "left",       "right",      "text",         "mathrm",
    "mathbf", "cdot",   "times", "le",   "ge",   "approx", "mathcal",    "mathbb",     "operatorname", "overline",
    "log",    "exp",    "max",   "min",  "quad", "qquad",  "dots",       "ldots",      "alpha",        "beta",
    "gamma",  "theta",  "sigma", "mu",   "odot", "in",     "to",         "rightarrow", "lceil",        "rceil",
    "lfloor", "rfloor", "ln",    "pm",   "neq",  "Delta",  "varepsilon", "epsilon"};

std::filesystem::path text_folder() { return std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets" / "text"; }

std::string unknown_command(const std::string& markdown) {
  static const std::regex formula(R"(\$\$?([^$]+)\$\$?)"), command(R"(\\([A-Za-z]+))");
  for (std::sregex_iterator f(markdown.begin(), markdown.end(), formula), end; f != end; ++f) {
    const std::string inside = (*f)[1];
    for (std::sregex_iterator c(inside.begin(), inside.end(), command); c != end; ++c)
      if (!kKnownCommands.contains((*c)[1])) return (*c)[1];
  }
  return {};
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

TEST_CASE("every page has its parts and fits the smallest window", "[window][pages]") {
  const Glossary glossary = read_glossary(text_folder() / "glossary.md");
  REQUIRE(glossary.size() >= 7);
  for (const lessons::Chapter* chapter : lessons::chapters())
    for (const lessons::Page* page : chapter->pages) {
      INFO(page->id);
      const auto text = read_page(text_folder() / page->text);
      if (!text) FAIL(text.error().message);
      const PageText& words = text.value();
      CHECK(count_words(words.body.markdown) + count_words(words.ask) <= kMostWords);
      CHECK(count_words(words.body.markdown) >= 30);
      // Words of the question are drawn as they are: no term there would have its line and its explanation.
      CHECK(words.ask.find("](") == std::string::npos);
      CHECK(words.because.find("](") == std::string::npos);
      if (page->prediction != nullptr) {
        CHECK_FALSE(words.ask.empty());
        CHECK_FALSE(words.because.empty());
        CHECK(words.reveal_figure == page->prediction->figure);
        CHECK(std::count(page->figures.begin(), page->figures.end(), page->prediction->figure) == 1);
      }
      static const std::regex apart(R"([0-9] (%|GiB|MiB|GB/s|TB/s|GB\b|MB\b))");  // a line could end between them
      CHECK_FALSE(std::regex_search(words.body.markdown + words.more.markdown + words.ask + words.because, apart));
      for (const MarkedText* part : {&words.body, &words.more}) {
        for (const std::string& term : part->terms) {
          INFO(term);
          CHECK(glossary.contains(term));
        }
        CHECK(unknown_command(part->markdown) == "");
        CHECK(braces_match(part->markdown));
        CHECK(part->markdown.find("](") == std::string::npos);  // pages link to terms only
      }
    }
}

TEST_CASE("every kind of memory is in the glossary", "[window][pages]") {
  const Glossary glossary = read_glossary(text_folder() / "glossary.md");
  for (int i = 0; i < record::kNumCategories; ++i) {
    const std::string key(record::key_of(static_cast<record::Category>(i)));
    INFO(key);
    CHECK(glossary.contains(key));
  }
}

TEST_CASE("the lint sees what it is for", "[window][pages]") {
  CHECK(unknown_command(R"(a $\frac{1}{2}$ and $$\argmax x$$)") == "argmax");
  CHECK(unknown_command(R"($\frac{1}{2} \cdot \text{a}$)") == "");
  CHECK_FALSE(braces_match("a}"));
  CHECK(braces_match("{a}"));
}
