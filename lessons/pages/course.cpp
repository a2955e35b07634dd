// assets/text/contents.md lists all pages. Each page is the document assets/text/<id>.md.
#include "lessons/pages/course.h"
#include "demos/record/find.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace headroom::lessons {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPageLink = "](page:";
constexpr const char* kContents = "contents.md";
constexpr const char* kGlossary = "glossary.md";
constexpr const char* kReferences = "sources.csv";
constexpr const char* kStoredNumbers = "numbers.csv";
constexpr const char* kItems = "course_items.csv";

std::optional<std::string> read_file(const fs::path& path, Problems& problems) {
  std::ifstream file(path, std::ios::binary);
  if (file) return std::string(std::istreambuf_iterator<char>(file), {});
  problems.push_back({path.filename().string(), 1, fmt::format("{} cannot be read.", path.string())});
  return std::nullopt;
}

struct Listed {
  std::string page;
  int line = 0;
};
struct ListedChapter {
  std::string number, id, title;  // empty: before the first chapter
  std::vector<Listed> pages;
};

// "## 3 static_memory: Static memory"; empty for other lines.
std::optional<ListedChapter> parse_chapter(std::string_view line) {
  if (!line.starts_with("## ")) return std::nullopt;
  const std::size_t space = line.find(' ', 3), colon = line.find(':');
  if (space == std::string_view::npos || colon == std::string_view::npos || space > colon) return std::nullopt;
  ListedChapter chapter{std::string(line.substr(3, space - 3)),
                        std::string(trimmed(line.substr(space + 1, colon - space - 1))),
                        std::string(trimmed(line.substr(colon + 1))),
                        {}};
  if (chapter.number.empty() || chapter.id.empty() || chapter.title.empty()) return std::nullopt;
  return chapter;
}

// The line "- bench", then chapter headings, each followed by lines "- where_memory_goes".
std::vector<ListedChapter> parse_contents(std::string_view text, Problems& problems) {
  std::vector<ListedChapter> chapters(1);
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = trimmed(lines.take());
    if (auto chapter = parse_chapter(line))
      chapters.push_back(*std::move(chapter));
    else if (line.starts_with("- "))
      chapters.back().pages.push_back({std::string(trimmed(line.substr(2))), lines.number()});
    else if (line.starts_with("##") || line.starts_with("-"))
      problems.push_back({kContents, lines.number(),
                          "Chapters are lines \"## NUMBER ID: Title\", and pages lines \"- ID\" below them."});
  }
  return chapters;
}

// A link to a page that was left out is not a problem here.
void check_page_links(const std::string& file, const std::string& text, const std::set<std::string>& listed,
                      Problems& problems) {
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = lines.take();
    for (std::size_t at = line.find(kPageLink); at != std::string_view::npos; at = line.find(kPageLink, at + 1)) {
      const std::size_t begin = at + kPageLink.size();
      const std::string id(line.substr(begin, line.find(')', begin) - begin));
      if (listed.contains(id + ".md")) continue;
      problems.push_back(
          {file, lines.number(), fmt::format("A link opens the page {}, which is not in {}.", id, kContents)});
    }
  }
}

void check_all_listed(const fs::path& folder, const std::set<std::string>& listed, Problems& problems) {
  std::error_code failed;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".md") files.push_back(entry.path().filename().string());
  std::ranges::sort(files);
  for (const std::string& file : files)
    if (file != kContents && file != kGlossary && !listed.contains(file))
      problems.push_back({file, 1, fmt::format("No chapter of {} names this page: add its line.", kContents)});
}

// Removes items without a page or figure. Pages that were left out for other reasons are not reported again.
void check_items(std::vector<CourseItem>& items, const Course& course, const std::set<std::string>& listed,
                 Problems& problems) {
  std::erase_if(items, [&](const CourseItem& item) {
    if (item.page.empty()) return false;
    const Page* page = course.find_page(item.page);
    if (page != nullptr && std::ranges::find(page->figures, item.figure) != page->figures.end()) return false;
    if (page != nullptr)
      problems.push_back({kItems, 1, fmt::format("Item {}: {} has no figure {}.", item.id, item.page, item.figure)});
    else if (!listed.contains(item.page + ".md"))
      problems.push_back({kItems, 1, fmt::format("Item {}: there is no page {}.", item.id, item.page)});
    return true;
  });
}

}  // namespace

Course Course::load(const fs::path& assets, const CommandCheck& check_command) {
  Course course;
  const fs::path folder = assets / "text";
  if (std::error_code ignored; fs::exists(folder / kStoredNumbers, ignored))
    if (const auto text = read_file(folder / kStoredNumbers, course.problems_))
      course.numbers_ = parse_numbers(*text, kStoredNumbers, course.problems_);
  if (const auto text = read_file(folder / kGlossary, course.problems_))
    course.glossary_ = parse_glossary(with_stored_numbers(*text, kGlossary, course.numbers_, course.problems_));
  if (const auto text = read_file(folder / kReferences, course.problems_))
    course.references_ = parse_references(*text, kReferences, course.problems_);
  const auto contents = read_file(folder / kContents, course.problems_);
  if (!contents) return course;
  const PageContext context{course.glossary_, course.references_, check_command};
  std::set<std::string> files;
  std::vector<std::pair<std::string, std::string>> texts;  // by file
  for (const ListedChapter& listed : parse_contents(*contents, course.problems_)) {
    Chapter chapter{listed.number, listed.id, listed.title, {}};
    for (const auto& [id, line] : listed.pages) {
      const std::string file = id + ".md";
      if (!files.insert(file).second) {
        course.problems_.push_back({kContents, line, fmt::format("The page {} is named twice.", id)});
        continue;
      }
      if (std::error_code ignored; !fs::exists(folder / file, ignored)) {
        course.problems_.push_back({kContents, line, fmt::format("There is no text {} for this page.", file)});
        continue;
      }
      const auto text = read_file(folder / file, course.problems_);
      if (!text) continue;
      Problems problems;
      const std::string words = with_stored_numbers(*text, file, course.numbers_, problems);
      auto page = std::make_unique<Page>(read_page(parse_document(words, file, problems), context, problems));
      page->id = id;
      page->lesson.in_course = !chapter.number.empty();
      if (problems.empty()) chapter.pages.push_back(course.pages_.emplace_back(std::move(page)).get());
      std::move(problems.begin(), problems.end(), std::back_inserter(course.problems_));
      texts.emplace_back(file, *text);
    }
    if (chapter.pages.empty()) continue;
    if (chapter.number.empty())
      course.bench_ = chapter.pages.front();
    else
      course.chapters_.push_back(std::move(chapter));
  }
  for (const auto& [file, text] : texts) check_page_links(file, text, files, course.problems_);
  check_all_listed(folder, files, course.problems_);
  check_numbers_used(course.numbers_, kStoredNumbers, course.problems_);
  if (std::error_code ignored; fs::exists(assets / kItems, ignored)) {
    if (const auto text = read_file(assets / kItems, course.problems_))
      course.items_ = parse_items(*text, kItems, course.problems_);
    check_items(course.items_, course, files, course.problems_);
  }
  return course;
}

const Page* Course::find_page(std::string_view id) const {
  const auto found = std::ranges::find_if(pages_, [&](const auto& page) { return page->id == id; });
  return found == pages_.end() ? nullptr : found->get();
}

const Chapter* Course::find_chapter(std::string_view number) const {
  return record::find_in(chapters_, number, &Chapter::number);
}

std::vector<const Page*> Course::pages() const {
  std::vector<const Page*> all;
  for (const Chapter& chapter : chapters_) all.insert(all.end(), chapter.pages.begin(), chapter.pages.end());
  return all;
}

}  // namespace headroom::lessons
