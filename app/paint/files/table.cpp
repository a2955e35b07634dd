#include "app/paint/files/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "headroom_build.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureData;
using nlohmann::json;
using record::Category;

std::string_view key_of(lessons::AxisUnit unit) {
  switch (unit) {
    case lessons::AxisUnit::kBytes:
      return "bytes";
    case lessons::AxisUnit::kNanoseconds:
      return "ns";
    case lessons::AxisUnit::kEvents:
      return "events";
    case lessons::AxisUnit::kBytesPerSecond:
      return "bytes/s";
    case lessons::AxisUnit::kPercent:
      return "%";
    case lessons::AxisUnit::kFlopsPerByte:
      return "flops/byte";
    case lessons::AxisUnit::kFlopsPerSecond:
      return "flops/s";
    case lessons::AxisUnit::kSteps:
      return "steps";
    case lessons::AxisUnit::kNumber:
    case lessons::AxisUnit::kCategory:
      return "";
  }
  return "";
}

std::string_view key_of(lessons::LineStyle style) {
  switch (style) {
    case lessons::LineStyle::kReserved:
      return "reserved";
    case lessons::LineStyle::kProcess:
      return "process";
    case lessons::LineStyle::kGhost:
      return "run_a";
  }
  return "";
}

// Positions are nanoseconds or events: three decimals are a picosecond.
std::string number(double value) {
  std::string text = fmt::format("{:.3f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// A comment is one line.
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

// Where a point of a chart stands: the name of its place, or the number.
std::string place_of(const lessons::Chart& chart, const lessons::ChartPoint& point) {
  const auto index = static_cast<std::size_t>(std::max(0.0, point.x));
  if (chart.x.unit == lessons::AxisUnit::kCategory && index < chart.categories.size()) return chart.categories[index];
  return number(point.x);
}

// Losses differ in their last digits: those of a float.
std::string value_of(const lessons::Axis& axis, double value) {
  return axis.unit == lessons::AxisUnit::kNumber ? fmt::format("{:.9g}", value) : number(value);
}

std::string name_at(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? names[index] : fmt::format("{}", index);
}

// Charts point by point, then maps cell by cell, in one table.
std::string chart_rows(const FigureData& figure) {
  std::string out = "chart,series,published,x,value,p20,p80,unit\n";
  for (const lessons::Chart& chart : figure.charts)
    for (const lessons::ChartSeries& series : chart.series)
      for (const lessons::ChartPoint& point : series.points) {
        if (point.out_of_memory) {
          out += fmt::format("{},{},{},{},,,,out of memory\n", quoted(chart.title), quoted(series.label),
                             series.ghost ? "yes" : "no", quoted(place_of(chart, point)));
          continue;
        }
        out += fmt::format("{},{},{},{},{},{},{},{}\n", quoted(chart.title), quoted(series.label),
                           series.ghost ? "yes" : "no", quoted(place_of(chart, point)), value_of(chart.y, point.y),
                           value_of(chart.y, point.low), value_of(chart.y, point.high), key_of(chart.y.unit));
      }
  for (const lessons::HeatMap& map : figure.maps)
    for (std::size_t r = 0; r < map.cells.size(); ++r)
      for (std::size_t c = 0; c < map.cells[r].size(); ++c)
        if (std::isfinite(map.cells[r][c]))
          out += fmt::format("{},{},no,{},{:.9g},,,\n", quoted(map.title), quoted(name_at(map.rows, r)),
                             quoted(name_at(map.columns, c)), map.cells[r][c]);
  return out;
}

std::string rung_rows(const FigureData& figure) {
  std::string out = "rung";
  for (int i = 0; i < record::kNumCategories; ++i)
    out += fmt::format(",{}_bytes", record::key_of(static_cast<Category>(i)));
  out += ",peak_bytes,compared_with_bytes,out_of_memory,tokens_per_second,loss,note\n";
  for (const lessons::Rung& rung : figure.rungs) {
    out += quoted(rung.label);
    for (const record::Bytes bytes : rung.bytes) out += fmt::format(",{}", bytes);
    out += fmt::format(",{},{},{},{},{},{}\n", std::accumulate(rung.bytes.begin(), rung.bytes.end(), record::Bytes{0}),
                       rung.before, rung.out_of_memory ? "yes" : "no", rung.speed > 0 ? number(rung.speed) : "",
                       rung.loss, quoted(rung.note));
  }
  return out;
}

std::string_view key_of(lessons::Work work) {
  switch (work) {
    case lessons::Work::kOurs:
      return "fused";
    case lessons::Work::kProduct:
      return "product";
    case lessons::Work::kOther:
      return "other";
    case lessons::Work::kMove:
      return "copy";
    case lessons::Work::kHost:
      return "host";
  }
  return "";
}

std::string time_rows(const FigureData& figure) {
  std::string out = "row,begin_ns,end_ns,kind,count,bytes,what\n";
  for (const lessons::TimeRow& row : figure.rows)
    for (const lessons::TimeBox& box : row.boxes)
      out +=
          fmt::format("{},{},{},{},{},{},{}\n", quoted(row.label), number(box.begin), number(box.end), key_of(box.work),
                      box.count, box.bytes >= 0 ? fmt::format("{}", box.bytes) : "", quoted(box.tip));
  return out;
}

std::string table_rows(const lessons::Table& table) {
  std::string out = "name,note";
  for (const std::string& column : table.columns) out += "," + quoted(column);
  out += "\n";
  for (const lessons::TableRow& row : table.rows) {
    out += quoted(row.name) + "," + quoted(row.note);
    for (const std::string& cell : row.cells) out += "," + quoted(cell);
    out += "\n";
  }
  return out;
}

json provenance_of(const FigureData& figure) {
  return {{"program", fmt::format("headroom {}", build::kVersion)},
          {"figure", figure.id},
          {"title", figure.title},
          {"source", record::key_of(figure.source)},
          {"run", figure.provenance_line},
          {"provenance", figure.provenance}};
}

record::Bytes total(const record::ByCategory& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), record::Bytes{0});
}

// What the step function holds at `x`; empty before its beginning and after its end.
std::string value_at(const lessons::StepLine& line, double x) {
  const auto after = std::upper_bound(line.x.begin(), line.x.end(), x);
  if (after == line.x.begin() || x >= line.end) return "";
  return number(line.y[static_cast<std::size_t>(after - line.x.begin()) - 1]);
}

std::string timeline_rows(const FigureData& figure) {
  const std::string_view unit = key_of(figure.x.unit);
  std::string out = fmt::format("begin_{0},end_{0}", unit);
  for (int i = 0; i < record::kNumCategories; ++i)
    out += fmt::format(",{}_bytes", record::key_of(static_cast<Category>(i)));
  out += ",allocated_bytes,lowest_allocated_bytes";
  for (const lessons::StepLine& line : figure.lines) out += fmt::format(",{}_bytes", key_of(line.style));
  out += "\n";
  for (const lessons::StackColumn& column : figure.stack) {
    out += number(column.begin) + "," + number(column.end);
    for (const record::Bytes bytes : column.high) out += fmt::format(",{}", bytes);
    out += fmt::format(",{},{}", total(column.high), total(column.low));
    for (const lessons::StepLine& line : figure.lines) out += "," + value_at(line, (column.begin + column.end) / 2);
    out += "\n";
  }
  return out;
}

std::string bar_rows(const FigureData& figure) {
  std::string out = "category,label,bytes,note\n";
  for (const lessons::Bar& bar : figure.bars) {
    out += fmt::format("{},{},{},{}\n", record::key_of(bar.category), quoted(bar.label), number(bar.value),
                       quoted(bar.note));
  }
  return out;
}

json by_category(const record::ByCategory& bytes) {
  json object;
  for (int i = 0; i < record::kNumCategories; ++i) {
    object[std::string(record::key_of(static_cast<Category>(i)))] = bytes[static_cast<std::size_t>(i)];
  }
  return object;
}

// Bytes are whole numbers; a description holds them as doubles, which is exact up to 8 PiB.
record::Bytes whole(double bytes) { return std::llround(bytes); }

json axis(const lessons::Axis& axis) { return {{"unit", key_of(axis.unit)}, {"low", axis.low}, {"high", axis.high}}; }

json mark(const lessons::PeakMark& mark) { return {{"x", mark.x}, {"bytes", whole(mark.y)}, {"label", mark.label}}; }

json list_of(const lessons::AliveList& list) {
  json rows = json::array();
  for (const lessons::ListRow& row : list.rows) {
    rows.push_back({{"category", record::key_of(row.category)},
                    {"name", row.name},
                    {"where", row.where},
                    {"bytes", row.bytes},
                    {"tensors", row.tensors}});
  }
  return {{"position", list.position},    {"when", list.when},       {"total_bytes", list.total},
          {"at_cursor", list.at_cursor},  {"rows", std::move(rows)}, {"more_tensors", list.more_count},
          {"more_bytes", list.more_bytes}};
}

json chart_of(const lessons::Chart& chart) {
  json series = json::array(), references = json::array();
  for (const lessons::ChartSeries& each : chart.series) {
    json points = json::array();
    for (const lessons::ChartPoint& point : each.points) {
      points.push_back({{"x", place_of(chart, point)}, {"value", point.y}, {"p20", point.low}, {"p80", point.high}});
      if (point.out_of_memory) points.back()["out_of_memory"] = true;
    }
    series.push_back({{"label", each.label}, {"published", each.ghost}, {"points", std::move(points)}});
    if (each.category) series.back()["category"] = record::key_of(*each.category);
  }
  for (const lessons::ChartReference& each : chart.references)
    references.push_back({{"label", each.label}, {"x", each.x}, {"y", each.y}});
  return {{"title", chart.title},
          {"x", {{"unit", key_of(chart.x.unit)}, {"name", chart.x.name}}},
          {"y", {{"unit", key_of(chart.y.unit)}, {"name", chart.y.name}}},
          {"series", std::move(series)},
          {"references", std::move(references)}};
}

void add_series(json& document, const FigureData& figure) {
  for (const lessons::Band& band : figure.bands) {
    document["phases"].push_back(
        {{"label", band.label}, {"begin", band.begin}, {"end", band.end}, {"inside_backward", band.half}});
  }
  for (const lessons::StackColumn& column : figure.stack) {
    document["stack"].push_back({{"begin", column.begin},
                                 {"end", column.end},
                                 {"highest", by_category(column.high)},
                                 {"lowest", by_category(column.low)}});
  }
  for (const lessons::StepLine& line : figure.lines) {
    std::vector<record::Bytes> bytes(line.y.size());
    std::transform(line.y.begin(), line.y.end(), bytes.begin(), whole);
    document["lines"].push_back(
        {{"kind", key_of(line.style)}, {"label", line.label}, {"x", line.x}, {"bytes", bytes}, {"end", line.end}});
  }
  for (const lessons::Bar& bar : figure.bars) {
    document["bars"].push_back({{"category", record::key_of(bar.category)},
                                {"label", bar.label},
                                {"bytes", whole(bar.value)},
                                {"note", bar.note}});
  }
  for (const lessons::TimeRow& row : figure.rows) {
    json boxes = json::array();
    for (const lessons::TimeBox& box : row.boxes)
      boxes.push_back({{"begin", box.begin},
                       {"end", box.end},
                       {"kind", key_of(box.work)},
                       {"count", box.count},
                       {"what", box.tip}});
    document["rows"].push_back({{"label", row.label}, {"note", row.note}, {"boxes", std::move(boxes)}});
  }
  for (const lessons::Rung& rung : figure.rungs)
    document["rungs"].push_back({{"label", rung.label},
                                 {"peak_by_category", by_category(rung.bytes)},
                                 {"compared_with_bytes", rung.before},
                                 {"out_of_memory", rung.out_of_memory},
                                 {"tokens_per_second", rung.speed > 0 ? json(rung.speed) : json(nullptr)},
                                 {"loss", rung.loss},
                                 {"note", rung.note}});
  for (const lessons::Chart& chart : figure.charts) document["charts"].push_back(chart_of(chart));
  if (figure.table)
    for (const lessons::TableRow& row : figure.table->rows)
      document["table"].push_back(
          {{"name", row.name}, {"note", row.note}, {"columns", figure.table->columns}, {"cells", row.cells}});
  for (const lessons::HeatMap& map : figure.maps) {
    json cells = json::array();
    for (const auto& row : map.cells) cells.push_back(row);
    document["maps"].push_back(
        {{"title", map.title}, {"rows", map.rows}, {"columns", map.columns}, {"cells", std::move(cells)}});
  }
  for (const lessons::LadderRung& rung : figure.ladder) {
    document["ladder"].push_back({{"label", rung.label}, {"bytes", rung.bytes}});
  }
}

}  // namespace

std::string provenance_json(const FigureData& figure) {
  return provenance_of(figure).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string to_csv(const FigureData& figure) {
  std::string out = fmt::format("# {}\n# program: headroom {}\n# source: {}\n", one_line(figure.title), build::kVersion,
                                record::key_of(figure.source));
  if (!figure.provenance_line.empty()) out += "# run: " + one_line(figure.provenance_line) + "\n";
  for (const auto& [key, value] : figure.provenance) out += fmt::format("# {}: {}\n", one_line(key), one_line(value));
  if (!figure.empty_reason.empty()) return out + "# empty: " + one_line(figure.empty_reason) + "\n";
  if (figure.table) return out + table_rows(*figure.table);
  if (!figure.charts.empty() || !figure.maps.empty()) return out + chart_rows(figure);
  if (!figure.rungs.empty()) return out + rung_rows(figure);
  if (!figure.rows.empty()) return out + time_rows(figure);
  return out + (figure.bars.empty() ? timeline_rows(figure) : bar_rows(figure));
}

std::string to_json(const FigureData& figure) {
  json document = provenance_of(figure);
  document["x"] = axis(figure.x);
  document["y"] = axis(figure.y);
  if (!figure.empty_reason.empty()) document["empty_reason"] = figure.empty_reason;
  add_series(document, figure);
  if (figure.cap) document["cap"] = {{"label", figure.cap->label}, {"bytes", whole(figure.cap->y)}};
  if (figure.peak) document["peak"] = mark(*figure.peak);
  if (figure.ghost_peak) document["run_a_peak"] = mark(*figure.ghost_peak);
  if (figure.failed) {
    document["failed_request"] = {{"x", figure.failed->x},
                                  {"allocated_bytes", whole(figure.failed->base)},
                                  {"requested_bytes", whole(figure.failed->bytes)},
                                  {"label", figure.failed->label}};
  }
  if (figure.cursor) document["alive"] = list_of(*figure.cursor);
  if (figure.veil_from) document["veil_from"] = *figure.veil_from;
  if (figure.guess) document["guess_bytes"] = whole(*figure.guess);
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace headroom::app::paint
