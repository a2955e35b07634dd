// The course: all chapters and pages, read from the texts in the assets folder.
#pragma once

#include <filesystem>
#include <memory>

#include "lessons/pages/items.h"
#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

// A page with a problem is left out; the others are there. Pages keep their addresses as long as the course lives.
class Course {
 public:
  // `check_command`: see page_reader.h; empty: commands in the texts are not looked at.
  static Course load(const std::filesystem::path& assets, const CommandCheck& check_command = {});

  const std::vector<Chapter>& chapters() const { return chapters_; }  // in display order
  const Chapter* find_chapter(std::string_view number) const;         // null: there is none of that number
  const Page* find_page(std::string_view id) const;                   // null: unknown, or left out
  std::vector<const Page*> pages() const;                             // of all chapters, in order
  const Glossary& glossary() const { return glossary_; }
  const References& references() const { return references_; }
  const std::vector<CourseItem>& items() const { return items_; }  // none where the assets have no table of them
  const Problems& problems() const { return problems_; }

 private:
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<Chapter> chapters_;
  Glossary glossary_;
  References references_;
  std::vector<CourseItem> items_;
  Problems problems_;
};

}  // namespace headroom::lessons
