// Builds the glossary.
#include "app/page/glossary.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/page/finder.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

namespace {

std::set<std::string> terms_of(const lessons::Page& page) {
  std::string words = lessons::markdown_of(page.front) + "\n" + lessons::markdown_of(page.more);
  if (page.question) words += "\n" + page.question->because;
  const std::vector<std::string> keys = lessons::terms_in(words);
  return {keys.begin(), keys.end()};
}

}  // namespace

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
