#include "lessons/pages/items.h"

#include <fmt/format.h>

#include "demos/record/csv.h"

namespace headroom::lessons {

namespace {

constexpr std::size_t kItemFields = 6;

}  // namespace

std::vector<CourseItem> parse_items(std::string_view text, std::string_view file, Problems& problems) {
  std::vector<CourseItem> items;
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = trimmed(lines.take());
    if (lines.number() == 1 || line.empty()) continue;
    auto fields = record::csv_fields(line);
    if (fields.size() == kItemFields)
      items.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]});
    else
      problems.push_back({std::string(file), lines.number(),
                          fmt::format("An item has {} fields (item, says, page, begins, figure, set), not {}.", kItemFields,
                                      fields.size())});
  }
  return items;
}

}  // namespace headroom::lessons
