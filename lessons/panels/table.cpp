#include "lessons/panels/table.h"

#include <nlohmann/json.hpp>

namespace headroom::lessons {

FileTable Table::table() const {
  FileTable table{.columns = headings({"name", "note"})};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (const TableRow& row : rows) {
    table.rows.push_back({row.name, row.note});
    table.rows.back().insert(table.rows.back().end(), row.cells.begin(), row.cells.end());
  }
  return table;
}

void Table::add_to(nlohmann::json& figure) const {
  for (const TableRow& row : rows)
    figure["table"].push_back({{"name", row.name}, {"note", row.note}, {"columns", columns}, {"cells", row.cells}});
}

std::vector<std::string> Table::sentences() const { return texts_of(rows, &TableRow::tip); }

}  // namespace headroom::lessons
