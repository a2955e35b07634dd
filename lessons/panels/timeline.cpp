#include "lessons/panels/timeline.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/record/file/json_fields.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {
namespace {

using nlohmann::json;

std::string_view key_of(LineStyle style) {
  constexpr std::array<std::string_view, 5> kKeys{"reserved", "process", "run_a", "predicted", "formula"};
  return kKeys[static_cast<std::size_t>(style)];
}

// The line's value at `x`; empty outside its range.
Cell value_at(const StepLine& line, double x) {
  const auto after = std::upper_bound(line.x.begin(), line.x.end(), x);
  if (after == line.x.begin() || x >= line.end) return {};
  return line.y[static_cast<std::size_t>(after - line.x.begin()) - 1];
}

json json_of(const PeakMark& mark) { return {{"x", mark.x}, {"bytes", whole_bytes(mark.y)}, {"label", mark.label}}; }

json json_of(const FailedRequest& failed) {
  return {{"x", failed.x},
          {"allocated_bytes", whole_bytes(failed.base)},
          {"requested_bytes", whole_bytes(failed.bytes)},
          {"label", failed.label}};
}

json json_of(const StepLine& line) {
  std::vector<record::Bytes> bytes(line.y.size());
  std::transform(line.y.begin(), line.y.end(), bytes.begin(), whole_bytes);
  return {{"kind", key_of(line.style)}, {"label", line.label}, {"x", line.x}, {"bytes", bytes}, {"end", line.end}};
}

json json_of(const AliveList& list) {
  json rows = json::array();
  for (const ListRow& row : list.rows)
    rows.push_back({{"category", record::key_of(row.category)},
                    {"name", row.name},
                    {"where", row.where},
                    {"bytes", row.bytes},
                    {"tensors", row.tensors}});
  return {{"position", list.position},    {"when", list.when},       {"total_bytes", list.total},
          {"at_cursor", list.at_cursor},  {"rows", std::move(rows)}, {"more_tensors", list.more_count},
          {"more_bytes", list.more_bytes}};
}

std::vector<std::size_t> kinds_with_passing(const Timeline& panel) {
  std::vector<std::size_t> kinds;
  for (std::size_t k = 0; k < panel.passing.size(); ++k)
    if (!panel.passing[k].empty()) kinds.push_back(k);
  return kinds;
}

}  // namespace

FileTable Timeline::table() const {
  FileTable table;
  for (const char* end : {"begin", "end"}) table.columns.emplace_back(Word{fmt::format("{}_{}", end, key_of(x.unit))});
  add_category_columns(table);
  for (const char* total : {"allocated_bytes", "lowest_allocated_bytes"}) table.columns.emplace_back(Word{total});
  for (const StepLine& line : lines) table.columns.emplace_back(Word{fmt::format("{}_bytes", key_of(line.style))});
  const std::vector<std::size_t> with_passing = kinds_with_passing(*this);
  for (const std::size_t k : with_passing)
    table.columns.emplace_back(Word{fmt::format("passing_{}_bytes", record::key_of(static_cast<record::Category>(k)))});
  for (const StackColumn& column : stack) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {column.begin, column.end};
    add_bytes(row, column.high);
    row.insert(row.end(), {record::total(column.high), record::total(column.low)});
    for (const StepLine& line : lines) row.push_back(value_at(line, (column.begin + column.end) / 2));
    for (const std::size_t k : with_passing) row.emplace_back(column.passing[k]);
  }
  return table;
}

void Timeline::add_to(json& figure) const {
  for (const Band& band : bands)
    figure["phases"].push_back(
        {{"label", band.label}, {"begin", band.begin}, {"end", band.end}, {"inside_backward", band.half}});
  const bool has_passing = !kinds_with_passing(*this).empty();
  for (const StackColumn& column : stack) {
    json& each = figure["stack"].emplace_back(json{{"begin", column.begin},
                                                   {"end", column.end},
                                                   {"highest", record::to_object(column.high)},
                                                   {"lowest", record::to_object(column.low)}});
    if (has_passing) each["passing"] = record::to_object(column.passing);
  }
  for (const StepLine& line : lines) figure["lines"].push_back(json_of(line));
  for (const MemoryLevel& level : levels) figure["ladder"].push_back({{"label", level.label}, {"bytes", level.bytes}});
  if (cap) figure["cap"] = {{"label", cap->label}, {"bytes", whole_bytes(cap->y)}};
  if (peak) figure["peak"] = json_of(*peak);
  if (baseline_peak) figure["run_a_peak"] = json_of(*baseline_peak);
  if (parting) {
    figure["parting"] = json_of(*parting);
    figure["parting"]["events"] = parting->tip;
  }
  if (failed) figure["failed_request"] = json_of(*failed);
  if (alive) figure["alive"] = json_of(*alive);
  if (hidden_from) figure["hidden_from"] = *hidden_from;
}

std::vector<std::string> Timeline::sentences() const {
  std::vector<std::string> all;
  if (peak) all.push_back("The " + peak->label);
  if (failed && cap) all.push_back("The run ended at the " + cap->label + ": it " + failed->label);
  if (parting) all.push_back(parting->tip);
  if (!alive || alive->rows.empty()) return all;
  std::string& list = all.emplace_back("Alive at " + alive->when + ":");
  for (std::size_t i = 0; i < std::min<std::size_t>(3, alive->rows.size()); ++i) {
    const ListRow& row = alive->rows[i];
    list += (i == 0 ? " " : ", ") + row.name + " " + bytes_text(row.bytes, unit_of(y));
  }
  return all;
}

}  // namespace headroom::lessons
