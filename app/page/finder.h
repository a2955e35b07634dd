// One list over everything that a reader can go to: pages, terms, figures, settings, commands and the text of pages. Built
// once; answers while one types.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/pages/course.h"

namespace headroom::app::page {

// In the order in which equally good ones are listed.
enum class FoundKind : unsigned char { kLink, kPage, kCommand, kSetting, kFigure, kTerm, kText };
std::string_view name_of(FoundKind kind);  // "Page"

struct Findable {
  FoundKind kind = FoundKind::kPage;
  std::string title;                    // shown, and matched first
  std::string also;                     // other words by which it is found
  std::string detail;                   // shown beside it: the chapter of a page, the keys of a command
  std::string key;                      // of a term, figure, setting or command; a link's text
  const lessons::Page* page = nullptr;  // of a page, figure or text
  int step = -1;                        // of text: of Read more, from 0; −1: what is read first
  bool after_answer = false;            // of text: it may give the page's answer away
};

// An entry of the list. Of text the words around what was typed: before it, itself, after it.
struct Found {
  Findable what;
  std::string before, typed, after;
};

// What belongs to this moment.
struct FindNow {
  std::span<const Findable> also;              // settings of the page on show, commands
  const lessons::Page* here = nullptr;         // the page on show: a figure of several pages is that of this one
  std::span<const lessons::Page* const> read;  // pages whose question is answered, or skipped
};

class Finder {
 public:
  explicit Finder(const lessons::Course& course);

  // All words that are typed, each in any place; the best first, at most so many. Nothing typed: the pages.
  std::vector<Found> find(std::string_view typed, const FindNow& now, std::size_t most = 40) const;

 private:
  struct Indexed {
    Findable what;
    std::string title, also, text;  // to search in; `text` as it is shown
  };
  static Indexed indexed(Findable what);
  void add_pages(const lessons::Course& course);
  void add_figures(const lessons::Page& page);
  void add_text(const lessons::Page& page, int step, const std::vector<lessons::Block>& blocks);
  void add_paragraphs(const lessons::Page& page, int step, std::string_view markdown, bool after_answer);

  std::vector<Indexed> all_;
};

// ASCII alone: what is longer than a byte stays as it is.
std::string in_small_letters(std::string_view text);

}  // namespace headroom::app::page
