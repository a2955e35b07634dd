#include "lessons/pages/items.h"

#include "lessons/pages/numbers/csv_lines.h"

namespace headroom::lessons {

std::vector<CourseItem> parse_items(std::string_view text, std::string_view file, Problems& problems) {
  std::vector<CourseItem> items;
  const auto take = [&](std::vector<std::string>& fields, int) {
    items.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]});
  };
  read_csv_lines(text, file, "An item", {"item", "says", "page", "begins", "figure", "set"}, problems, take);
  return items;
}

}  // namespace headroom::lessons
