// Panel: rows of words with numbers under heads, at the right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"

namespace headroom::lessons {

struct TableRow {
  std::optional<record::Category> category;
  std::string name;  // "Optimizer state"
  std::string note;  // below it: "12 · P = 12 × 1,235,814,400"
  std::vector<std::string> cells;
  std::string tip;
};

struct Table {
  std::string head;                  // over the names
  std::vector<std::string> columns;  // "formula", "measured"; as many as a row has cells
  std::vector<TableRow> rows;
  std::string foot;  // a sentence below
};

}  // namespace headroom::lessons
