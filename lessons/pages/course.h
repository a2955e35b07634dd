// The course: all chapters and pages, read from the assets folder.
#pragma once

#include <filesystem>
#include <memory>

#include "lessons/pages/items.h"
#include "lessons/pages/numbers/stored_numbers.h"
#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

// Pages with problems are left out. Pages keep their addresses while the course lives.
class Course {
 public:
  // `check_command`: see page_reader.h; empty: commands are not checked.
  static Course load(const std::filesystem::path& assets, const CommandCheck& check_command = {});

  const std::vector<Chapter>& chapters() const { return chapters_; }  // in display order
  const Chapter* find_chapter(std::string_view number) const;         // null: unknown
  const Page* find_page(std::string_view id) const;                   // null: unknown or left out; finds the bench
  std::vector<const Page*> pages() const;                             // in display order, without the bench
  // The page before the first chapter, to work on without the course; null: none.
  const Page* bench() const { return bench_; }
  const Glossary& glossary() const { return glossary_; }
  const References& references() const { return references_; }
  const StoredNumbers& numbers() const { return numbers_; }        // empty if the assets have none
  const std::vector<CourseItem>& items() const { return items_; }  // empty if the assets have none
  const Problems& problems() const { return problems_; }

 private:
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<Chapter> chapters_;
  const Page* bench_ = nullptr;
  Glossary glossary_;
  References references_;
  StoredNumbers numbers_;
  std::vector<CourseItem> items_;
  Problems problems_;
};

}  // namespace headroom::lessons
