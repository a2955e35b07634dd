#include "lessons/panels/file_table.h"

#include <cmath>

#include <fmt/format.h>

namespace headroom::lessons {

std::vector<Cell> headings(std::initializer_list<const char*> columns) {
  std::vector<Cell> cells;
  for (const char* each : columns) cells.emplace_back(Word{each});
  return cells;
}

void add_category_columns(FileTable& table) {
  for (int i = 0; i < record::kNumCategories; ++i)
    table.columns.emplace_back(Word{fmt::format("{}_bytes", record::key_of(static_cast<record::Category>(i)))});
}

void add_bytes(std::vector<Cell>& row, const record::ByCategory& bytes) {
  row.insert(row.end(), bytes.begin(), bytes.end());
}

Word yes_or_no(bool value) { return {value ? "yes" : "no"}; }

std::string file_number(double value) {
  std::string text = fmt::format("{:.3f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

record::Bytes whole_bytes(double bytes) { return std::llround(bytes); }

}  // namespace headroom::lessons
