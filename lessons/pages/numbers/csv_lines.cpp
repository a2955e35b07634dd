// Reads lines and reports wrong numbers of fields.
#include "lessons/pages/numbers/csv_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/record/file/csv.h"

namespace headroom::lessons {

void read_csv_lines(std::string_view text, std::string_view file, std::string_view row,
                    const std::vector<std::string_view>& columns, Problems& problems, const TakeCsvLine& take) {
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = trimmed(lines.take());
    const int number = lines.number();
    if (number == 1 || line.empty()) continue;
    auto fields = record::csv_fields(line);
    if (fields.size() == columns.size())
      take(fields, number);
    else
      problems.push_back({std::string(file), number,
                          fmt::format("{} has {} fields ({}), not {}.", row, columns.size(), fmt::join(columns, ", "),
                                      fields.size())});
  }
}

}  // namespace headroom::lessons
