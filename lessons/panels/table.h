// Panel: rows of words, with numbers in columns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/file_table.h"

namespace headroom::lessons {

struct TableRow {
  std::optional<record::Category> category;
  std::string name;
  std::string note;  // below the name
  std::vector<std::string> cells;
  std::string tip;
};

struct Table {
  std::string head;
  std::vector<std::string> columns;  // one per cell
  std::vector<TableRow> rows;
  std::string foot;  // a sentence below the table

  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
