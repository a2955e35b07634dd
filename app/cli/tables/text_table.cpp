// Makes columns as wide as their widest cell, and picks units.
#include "app/cli/tables/text_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::app {

namespace {

// The width in characters, because "×" has two bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// The column's width; 0 if it is empty below its head.
std::size_t width_of(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  std::size_t widest = 0;
  for (std::size_t row = 1; row < rows.size(); ++row) widest = std::max(widest, width_of(rows[row][column]));
  return widest == 0 ? 0 : std::max(widest, width_of(rows.front()[column]));
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t first_number) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::size_t width = width_of(rows, column);
      if (width == 0) continue;
      const std::string pad(width - width_of(row[column]), ' ');
      line += line.empty() ? "  " : "   ";
      line += column >= first_number ? pad + row[column] : row[column] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

lessons::ShownUnit table_unit(record::Bytes largest) {
  constexpr record::Bytes kMost = 1000 * record::kGiB;
  return lessons::byte_unit(static_cast<double>(std::min(largest, kMost)));
}

std::string table_bytes(record::Bytes bytes, const lessons::ShownUnit& unit) {
  const auto number = static_cast<double>(bytes);
  const double size = std::abs(number) / unit.size;
  if (size == 0) return fmt::format("0 {}", unit.name);
  if (size < 0.0005 && unit.size > 1) return fmt::format("{}<0.001 {}", bytes < 0 ? "−" : "", unit.name);
  return fmt::format("{} {}", lessons::in_unit(number, unit, size < 1 ? 3 : 2), unit.name);
}

}  // namespace headroom::app
