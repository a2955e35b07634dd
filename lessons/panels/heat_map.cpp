#include "lessons/panels/heat_map.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "lessons/panels/chart.h"

namespace headroom::lessons {
namespace {

std::string name_at(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? names[index] : std::to_string(index);
}

}  // namespace

// The rows read like a chart's, one series per row of cells.
FileTable HeatMap::table() const {
  FileTable table{.columns = chart_columns()};
  for (std::size_t r = 0; r < cells.size(); ++r)
    for (std::size_t c = 0; c < cells[r].size(); ++c)
      if (std::isfinite(cells[r][c]))
        table.rows.push_back({title, name_at(rows, r), yes_or_no(false), name_at(columns, c), Exact{cells[r][c]},
                              Cell(), Cell(),
                              states.empty() ? Word{} : Word{std::string(predict::key_of(states[r][c]))}});
  return table;
}

void HeatMap::add_to(nlohmann::json& figure) const {
  nlohmann::json values = nlohmann::json::array(), verdicts = nlohmann::json::array();
  for (const auto& row : cells) values.push_back(row);
  for (const auto& row : states) {
    verdicts.push_back(nlohmann::json::array());
    for (const predict::Verdict each : row) verdicts.back().push_back(predict::key_of(each));
  }
  figure["maps"].push_back({{"title", title}, {"rows", rows}, {"columns", columns}, {"cells", std::move(values)}});
  if (!states.empty()) figure["maps"].back()["verdicts"] = std::move(verdicts);
}

std::vector<std::string> HeatMap::sentences() const { return {title}; }

}  // namespace headroom::lessons
