// What the course is to teach, item by item, and where it does: one table, assets/course_items.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lessons/pages/document.h"

namespace headroom::lessons {

struct CourseItem {
  std::string id;      // "7.4", or of a figure of the report "figure.13"
  std::string says;    // in a sentence
  std::string page;    // that teaches it; empty: none yet
  std::string begins;  // the sentence of the page that does
  std::string figure;  // of the page, that takes data for it
  std::string set;     // a setting of that figure, "strategies=two"; empty: its defaults

  bool operator==(const CourseItem&) const = default;
};

// A line that is none is left out, and is a problem.
std::vector<CourseItem> parse_items(std::string_view text, std::string_view file, Problems& problems);

}  // namespace headroom::lessons
