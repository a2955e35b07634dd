// Items that the course teaches, and where, from assets/course_items.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lessons/pages/document.h"

namespace headroom::lessons {

struct CourseItem {
  std::string id;      // "7.4"; "figure.13" of the report
  std::string says;    // the item in a sentence
  std::string page;    // empty: none yet
  std::string begins;  // the page's sentence that teaches the item
  std::string figure;
  std::string set;  // the figure's parameters, "ranks=64 zero_group=8"; empty: defaults

  bool operator==(const CourseItem&) const = default;
};

// Malformed lines are left out and reported.
std::vector<CourseItem> parse_items(std::string_view text, std::string_view file, Problems& problems);

}  // namespace headroom::lessons
