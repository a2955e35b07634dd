// Reads a Markdown table: "| head | head |", a line of dashes, rows.
#include "lessons/pages/blocks/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

namespace {

std::vector<std::string> cells_of(std::string_view line) {
  if (line.starts_with("|")) line.remove_prefix(1);
  if (line.ends_with("|")) line.remove_suffix(1);
  std::vector<std::string> cells;
  for (bool last = false; !last;) {
    const std::size_t bar = line.find('|');
    cells.emplace_back(trimmed(line.substr(0, bar)));
    last = bar == std::string_view::npos;
    if (!last) line.remove_prefix(bar + 1);
  }
  return cells;
}

std::any parse_table(BlockSource& source) {
  std::vector<std::vector<std::string>> rows;
  for (Lines lines(source.part.text); !lines.done();) rows.push_back(cells_of(trimmed(lines.take())));
  const bool whole = rows.size() >= 3 && rows[1][0].starts_with("-") &&
                     std::ranges::all_of(rows, [&](const auto& cells) { return cells.size() == rows[0].size(); });
  if (whole) return TableBlock{rows[0], {rows.begin() + 2, rows.end()}};
  source.complain("A table is a line of headers, a line of dashes and rows with as many cells as headers.");
  return {};
}

std::string row_text(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string words_of_table(const std::any& content) {
  const auto& table = std::any_cast<const TableBlock&>(content);
  std::string text = row_text(table.columns) + row_text(std::vector<std::string>(table.columns.size(), "---"));
  for (const auto& row : table.rows) text += row_text(row);
  text.pop_back();
  return text;
}

}  // namespace

constinit const BlockType kTableBlock{.name = "table", .parse = parse_table, .words = words_of_table};

}  // namespace headroom::lessons
