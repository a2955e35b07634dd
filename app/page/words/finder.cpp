// Builds the index and ranks matches.
#include "app/page/words/finder.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "demos/record/text.h"
#include "lessons/figure.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

namespace {

// Smaller is better.
enum Rank : int {
  kWhole,
  kBegins,
  kWordOfTitle,
  kInTitle,
  kWordOfOthers,
  kInOthers,
  kNearTitle,
  kWordOfText,
  kInText,
  kNone
};

struct Match {
  int worst = kNone, sum = 0;
  std::size_t at = 0, length = 0;  // the first match in text
};

bool in_word(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

// The first match, preferably at the beginning of a word.
struct Place {
  std::size_t at = std::string_view::npos;
  bool begins = false;
};
Place place_of(std::string_view text, std::string_view word) {
  Place place{text.find(word), false};
  for (std::size_t at = place.at; at != std::string_view::npos; at = text.find(word, at + 1))
    if (at == 0 || !in_word(text, at - 1)) return {at, true};
  return place;
}

int rank_in(std::string_view text, std::string_view word, int begins, int inside) {
  const Place place = place_of(text, word);
  return place.at == std::string_view::npos ? kNone : place.begins ? begins : inside;
}

bool has_near(std::string_view title, std::string_view typed) {
  for (std::size_t begin = 0; begin < title.size();) {
    std::size_t end = begin;
    while (in_word(title, end)) ++end;
    if (is_near(typed, title.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

Match match(std::string_view title, std::string_view also, std::string_view text, std::span<const std::string> words) {
  Match match{kWhole, 0, 0, 0};
  for (const std::string& word : words) {
    int rank = kNone;
    if (text.empty()) {
      const int of_title = title.starts_with(word) ? kBegins : rank_in(title, word, kWordOfTitle, kInTitle);
      rank = std::min(of_title, rank_in(also, word, kWordOfOthers, kInOthers));
      if (rank == kNone && has_near(title, word)) rank = kNearTitle;
    } else if (const Place place = place_of(text, word); place.at != std::string_view::npos) {
      rank = place.begins ? kWordOfText : kInText;
      if (match.length == 0) match.at = place.at, match.length = word.size();
    }
    if (rank == kNone) return {};
    match.worst = std::max(match.worst, rank);
    match.sum += rank;
  }
  return match;
}

// Cuts the text at word boundaries.
void put_words_around(Found& found, std::string_view text, const Match& match) {
  constexpr std::size_t kBefore = 28, kAfter = 90;
  std::size_t begin = match.at > kBefore ? match.at - kBefore : 0;
  if (begin > 0) begin = std::min(text.find(' ', begin), match.at - 1) + 1;
  std::size_t end = std::min(match.at + match.length + kAfter, text.size());
  if (end < text.size()) end = std::max(text.rfind(' ', end), match.at + match.length);
  found.before = (begin > 0 ? "…" : "") + std::string(text.substr(begin, match.at - begin));
  found.typed = text.substr(match.at, match.length);
  found.after =
      std::string(text.substr(match.at + match.length, end - match.at - match.length)) + (end < text.size() ? "…" : "");
}

bool is_in(std::span<const lessons::Page* const> pages, const lessons::Page* page) {
  return std::ranges::find(pages, page) != pages.end();
}

std::set<std::string> terms_of(const lessons::Page& page) {
  std::string words = lessons::markdown_of(page.front) + "\n" + lessons::markdown_of(page.more);
  if (page.question) words += "\n" + page.question->because;
  const std::vector<std::string> keys = lessons::terms_in(words);
  return {keys.begin(), keys.end()};
}

}  // namespace

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool is_near(std::string_view typed, std::string_view word) {
  constexpr std::size_t kLeast = 4, kLong = 6;  // letters
  const bool number = std::ranges::any_of(typed, [](unsigned char c) { return std::isdigit(c) != 0; });
  const std::size_t wrong = typed.size() < kLong ? 1 : 2;
  if (typed.size() < kLeast || number || word.size() + wrong < typed.size()) return false;
  // The word may go on.
  for (std::size_t letters = typed.size() - wrong; letters <= std::min(word.size(), typed.size() + wrong); ++letters)
    if (record::edit_distance(typed, word.substr(0, letters)) <= wrong) return true;
  return false;
}

std::string_view name_of(FoundKind kind) {
  constexpr std::string_view kNames[] = {"Link", "Do", "Page", "Command", "Setting", "Figure", "Term", "Text"};
  return kNames[static_cast<std::size_t>(kind)];
}

Finder::Indexed Finder::indexed(Findable what) {
  Indexed entry;
  entry.title = in_small_letters(what.title);
  entry.also = in_small_letters(what.also);
  entry.what = std::move(what);
  return entry;
}

Finder::Finder(const lessons::Course& course) {
  add_pages(course);
  for (const lessons::Page* page : course.pages()) add_figures(*page);
  for (const GlossaryEntry& term : glossary_of(course)) {
    Findable what{.kind = FoundKind::kTerm, .title = term.name, .also = term.key + " " + term.text, .key = term.key};
    what.detail = term.text;
    all_.push_back(indexed(std::move(what)));
  }
  for (const lessons::Page* page : course.pages()) {
    add_text(*page, -1, page->front);
    if (page->question) add_paragraphs(*page, -1, page->question->because, true);
    for (std::size_t step = 0; step < page->more.size(); ++step)
      add_text(*page, static_cast<int>(step), page->more[step].blocks);
  }
}

void Finder::add_pages(const lessons::Course& course) {
  if (const lessons::Page* const bench = course.bench())
    all_.push_back(indexed({.kind = FoundKind::kPage,
                            .title = bench->title,
                            .also = lessons::markdown_of(bench->front),
                            .detail = lessons::markdown_of(bench->front),
                            .key = bench->id,
                            .page = bench}));
  for (const lessons::Chapter& chapter : course.chapters())
    for (const lessons::Page* page : chapter.pages) {
      std::string id = page->id;
      std::ranges::replace(id, '_', ' ');
      all_.push_back(indexed({.kind = FoundKind::kPage,
                              .title = page->title,
                              .also = fmt::format("{} {} {} {}", chapter.title, id, page->id, page->lesson.goal),
                              .detail = page->lesson.goal.empty() ? chapter.title : page->lesson.goal,
                              .key = page->id,
                              .page = page}));
    }
}

void Finder::add_figures(const lessons::Page& page) {
  for (const std::string& id : page.figures) {
    const lessons::Figure* const figure = lessons::find_figure(id);
    if (figure == nullptr) continue;
    all_.push_back(indexed({.kind = FoundKind::kFigure,
                            .title = std::string(figure->title),
                            .also = fmt::format("{} {}", id, figure->caption),
                            .detail = page.title,
                            .key = id,
                            .page = &page}));
  }
}

void Finder::add_text(const lessons::Page& page, int step, const std::vector<lessons::Block>& blocks) {
  const bool after = step >= 0 && page.question.has_value();
  for (const lessons::Block& block : blocks) add_paragraphs(page, step, block.words(), after);
}

void Finder::add_paragraphs(const lessons::Page& page, int step, std::string_view markdown, bool after_answer) {
  for (std::size_t begin = 0; begin < markdown.size();) {
    const std::size_t end = std::min(markdown.find("\n\n", begin), markdown.size());
    // Live numbers are known only for the open page.
    std::string text = lessons::plain_text(lessons::with_texts(markdown.substr(begin, end - begin), {}));
    begin = end + 2;
    if (text.empty() || text == "…") continue;  // nothing but a formula
    Findable what{.kind = FoundKind::kText, .title = page.title, .page = &page, .step = step};
    what.detail = step < 0 ? std::string() : fmt::format("Read more, step {}", step + 1);
    what.after_answer = after_answer;
    Indexed entry = indexed(std::move(what));
    entry.also = in_small_letters(text);  // searched instead of `text`
    entry.text = std::move(text);
    all_.push_back(std::move(entry));
  }
}

std::vector<Found> Finder::find(std::string_view typed, const FindNow& now, std::size_t most) const {
  const std::string small = in_small_letters(lessons::trimmed(typed));
  const std::vector<std::string> words = lessons::words_of(small);
  std::vector<Indexed> of_now;
  for (const Findable& each : now.also) of_now.push_back(indexed(each));
  struct Candidate {
    Match match;
    const Indexed* entry = nullptr;
  };
  std::vector<Candidate> candidates;
  const auto consider = [&](const Indexed& entry) {
    if (words.empty() && entry.what.kind != FoundKind::kPage) return;
    const bool text = !entry.text.empty();
    Match found =
        match(entry.title, text ? std::string_view() : entry.also, text ? entry.also : std::string_view(), words);
    if (found.worst == kNone) return;
    if (!text && entry.title == small) found.worst = found.sum = kWhole;
    candidates.push_back({found, &entry});
  };
  for (const Indexed& entry : of_now) consider(entry);
  for (const Indexed& entry : all_) consider(entry);
  const auto order = [&](const Candidate& each) {
    const bool elsewhere = each.entry->what.kind == FoundKind::kFigure && each.entry->what.page != now.here;
    const bool unavailable = !each.entry->what.why_not.empty();
    return std::tuple(each.match.worst, unavailable, each.match.sum, each.entry->what.kind, elsewhere);
  };
  std::ranges::stable_sort(candidates, {}, order);
  std::vector<Found> list;
  std::set<std::string> figures;
  std::set<const lessons::Page*> pages;
  for (const auto& [found, entry] : candidates) {
    if (list.size() == most) break;
    const Findable& what = entry->what;
    if (what.kind == FoundKind::kFigure && !figures.insert(what.key).second) continue;
    const bool is_page = what.kind == FoundKind::kPage || what.kind == FoundKind::kText;
    if (is_page && !pages.insert(what.page).second) continue;
    Found& one = list.emplace_back(Found{what, {}, {}, {}});
    if (what.after_answer && !is_in(now.read, what.page))
      one.before = "in the text after its question";
    else if (!entry->text.empty())
      put_words_around(one, entry->text, found);
  }
  const bool by_title =
      !list.empty() && list.front().what.kind == FoundKind::kPage && in_small_letters(list.front().what.title) == small;
  std::vector<Found> acts;
  for (const Findable& each : now.acts) acts.push_back({each, {}, {}, {}});
  list.insert(list.begin() + (by_title ? 1 : 0), acts.begin(), acts.end());
  return list;
}

std::vector<GlossaryEntry> glossary_of(const lessons::Course& course) {
  std::map<std::string, std::vector<const lessons::Page*>> pages;
  for (const lessons::Page* page : course.pages())
    for (const std::string& key : terms_of(*page)) pages[key].push_back(page);
  std::vector<GlossaryEntry> entries;
  for (const auto& [key, term] : course.glossary()) entries.push_back({key, term.name, term.text, pages[key]});
  std::ranges::sort(entries, {}, [](const GlossaryEntry& entry) { return in_small_letters(entry.name); });
  return entries;
}

}  // namespace headroom::app::page
