// A panel's numbers as a table for files. Every kind of panel has these members, so that file writers know no kind:
//
//   FileTable table() const;                     CSV: named columns, one row per number or mark
//   void add_to(nlohmann::json& figure) const;   JSON: its fields; panels of one kind share a list
//   std::vector<std::string> sentences() const;  alternative text: its main numbers
//   Axes axes() const;                           only in panels with axes
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/record/units.h"

namespace headroom::lessons {

// A word of the program, such as a key, is written without quotes.
struct Word {
  std::string text;
};
// A number whose last digits matter, such as a loss.
struct Exact {
  double value = 0;
};
// Empty, a word, text, a whole number, or a number with at most three decimals.
using Cell = std::variant<std::monostate, Word, std::string, std::int64_t, double, Exact>;

struct FileTable {
  std::vector<Cell> columns;
  std::vector<std::vector<Cell>> rows;
};

std::vector<Cell> headings(std::initializer_list<const char*> columns);
void add_category_columns(FileTable& table);
void add_bytes(std::vector<Cell>& row, const record::ByCategory& bytes);
Word yes_or_no(bool value);
// Sentences: `before`, then the text of each element.
template <class Range, class Text>
std::vector<std::string> texts_of(const Range& range, Text text, std::vector<std::string> before = {}) {
  for (const auto& each : range) before.push_back(std::invoke(text, each));
  return before;
}

// At most three decimals, because positions are nanoseconds or events.
std::string file_number(double value);
// Panels store bytes as doubles, which are exact up to 8 PiB.
record::Bytes whole_bytes(double bytes);

}  // namespace headroom::lessons
