// Searches pages, terms, figures, settings, commands and text, and lists what the words can do. The glossary.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "lessons/pages/course.h"

namespace headroom::app::page {

// Equally good matches are listed in this order.
enum class FoundKind : unsigned char { kLink, kAct, kPage, kCommand, kSetting, kFigure, kTerm, kText };
std::string_view name_of(FoundKind kind);  // "Page"

class PageModel;

struct Findable {
  FoundKind kind = FoundKind::kPage;
  std::string title;   // shown, and matched first
  std::string also;    // more words to match
  std::string detail;  // a page's chapter, a command's keys
  std::string key;     // of a term, figure, setting or command; a link's text
  const lessons::Page* page = nullptr;
  int step = -1;                                        // of Read more, from 0; −1: before it
  bool after_answer = false;                            // text that may reveal the page's answer
  std::string why_not = {};                             // why it can do nothing now; empty: it can
  std::function<record::Status(PageModel&)> does = {};  // of an act
};

// A result; for text, the match and the words around it.
struct Found {
  Findable what;
  std::string before, typed, after;
};

struct FindNow {
  std::span<const Findable> also;              // the page's settings, and commands
  std::span<const Findable> acts = {};         // what the typed words can do; first, unless they are a page's title
  const lessons::Page* here = nullptr;         // the page to prefer when several pages show a figure
  std::span<const lessons::Page* const> read;  // pages whose question was answered or skipped
};

class Finder {
 public:
  explicit Finder(const lessons::Course& course);

  // Entries with all typed words, best first; a title's words may be near to the typed ones. A page is listed once.
  // Without words: the pages.
  std::vector<Found> find(std::string_view typed, const FindNow& now, std::size_t most = 40) const;

 private:
  struct Indexed {
    Findable what;
    std::string title, also, text;  // lower case; `text` as displayed
  };
  static Indexed indexed(Findable what);
  void add_pages(const lessons::Course& course);
  void add_figures(const lessons::Page& page);
  void add_text(const lessons::Page& page, int step, const std::vector<lessons::Block>& blocks);
  void add_paragraphs(const lessons::Page& page, int step, std::string_view markdown, bool after_answer);

  std::vector<Indexed> all_;
};

// The glossary in alphabetical order, with the pages that use each term.
struct GlossaryEntry {
  std::string key, name, text;
  std::vector<const lessons::Page*> pages;
};

std::vector<GlossaryEntry> glossary_of(const lessons::Course& course);

// True if one letter is wrong, or two of six or more. Short words and numbers are near only to themselves.
bool is_near(std::string_view typed, std::string_view word);

// Changes ASCII only.
std::string in_small_letters(std::string_view text);

}  // namespace headroom::app::page
