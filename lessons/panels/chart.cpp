#include "lessons/panels/chart.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace headroom::lessons {
namespace {

using nlohmann::json;

// A category's name, or the number.
std::string place_of(const Chart& chart, const ChartPoint& point) {
  const auto index = static_cast<std::size_t>(std::max(0.0, point.x));
  if (chart.x.unit == AxisUnit::kCategory && index < chart.categories.size()) return chart.categories[index];
  return file_number(point.x);
}

json series_of(const Chart& chart, const ChartSeries& series) {
  json points = json::array();
  for (const ChartPoint& point : series.points) {
    points.push_back({{"x", place_of(chart, point)}, {"value", point.y}, {"p20", point.low}, {"p80", point.high}});
    if (point.out_of_memory) points.back()["out_of_memory"] = true;
  }
  json written{{"label", series.label}, {"published", series.published}, {"points", std::move(points)}};
  if (series.category) written["category"] = record::key_of(*series.category);
  return written;
}

}  // namespace

std::pair<double, double> range_of(const std::vector<ChartSeries>& series, double ChartPoint::*member) {
  std::pair<double, double> range{HUGE_VAL, -HUGE_VAL};
  for (const ChartSeries& each : series)
    for (const ChartPoint& point : each.points)
      range = {std::min(range.first, point.*member), std::max(range.second, point.*member)};
  return range;
}

std::vector<Cell> chart_columns() {
  return headings({"chart", "series", "published", "x", "value", "p20", "p80", "unit"});
}

FileTable Chart::table() const {
  FileTable table{.columns = chart_columns()};
  // Losses differ only in a float's last digits.
  const auto value = [&](double each) { return y.unit == AxisUnit::kNumber ? Cell(Exact{each}) : Cell(each); };
  for (const ChartSeries& each : series)
    for (const ChartPoint& point : each.points) {
      std::vector<Cell>& row = table.rows.emplace_back();
      row = {title, each.label, yes_or_no(each.published), place_of(*this, point)};
      if (point.out_of_memory)
        row.insert(row.end(), {Cell(), Cell(), Cell(), Word{"out of memory"}});
      else
        row.insert(row.end(), {value(point.y), value(point.low), value(point.high), Word{std::string(key_of(y.unit))}});
    }
  return table;
}

void Chart::add_to(json& figure) const {
  json lines = json::array(), all = json::array();
  for (const ChartSeries& each : series) all.push_back(series_of(*this, each));
  for (const ChartReference& each : references) lines.push_back({{"label", each.label}, {"x", each.x}, {"y", each.y}});
  figure["charts"].push_back({{"title", title},
                              {"x", {{"unit", key_of(x.unit)}, {"name", x.name}}},
                              {"y", {{"unit", key_of(y.unit)}, {"name", y.name}}},
                              {"series", std::move(all)},
                              {"references", std::move(lines)}});
}

std::vector<std::string> Chart::sentences() const {
  std::vector<std::string> all{title};
  for (const ChartSeries& each : series)
    for (const ChartPoint& point : each.points) all.push_back(point.tip);
  return all;
}

}  // namespace headroom::lessons
