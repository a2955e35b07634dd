// Writes a figure's panels as CSV tables.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/paint/files/writers.h"
#include "headroom_build.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureData;

// A CSV comment is one line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

struct InCsv {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const lessons::Word& word) const { return word.text; }
  std::string operator()(const std::string& text) const { return quoted(text); }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const { return lessons::file_number(number); }
  std::string operator()(const lessons::Exact& number) const { return fmt::format("{:.9g}", number.value); }
};

std::string line_of(const std::vector<lessons::Cell>& cells) {
  std::string line;
  for (const lessons::Cell& cell : cells) line += std::visit(InCsv{}, cell) + ",";
  line.back() = '\n';
  return line;
}

}  // namespace

std::string to_csv(const FigureData& figure) {
  const lessons::FigureHead& head = figure.head;
  std::string out = fmt::format("# {}\n# program: headroom {}\n# source: {}\n", one_line(head.title), build::kVersion,
                                record::key_of(head.source));
  if (!head.provenance_line.empty()) out += "# run: " + one_line(head.provenance_line) + "\n";
  if (!head.caption.empty()) out += "# caption: " + one_line(head.caption) + "\n";
  for (const auto& [key, value] : head.provenance) out += fmt::format("# {}: {}\n", one_line(key), one_line(value));
  if (!head.empty_reason.empty()) return out + "# empty: " + one_line(head.empty_reason) + "\n";
  std::string columns;  // head of the current table
  for (const lessons::Panel& panel : figure.panels) {
    const lessons::FileTable table = std::visit([](const auto& kind) { return kind.table(); }, panel);
    std::string names = line_of(table.columns);
    if (names != columns) out += (columns.empty() ? "" : "\n") + names;
    columns = std::move(names);
    for (const auto& row : table.rows) out += line_of(row);
  }
  return out;
}

}  // namespace headroom::app::paint
