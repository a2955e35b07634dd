// Makes columns as wide as their widest cell.
#include "app/cli/text_table.h"

#include <algorithm>

namespace headroom::app {

namespace {

// In characters: "×" has two bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// 0 if the column is empty below its head.
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

}  // namespace headroom::app
