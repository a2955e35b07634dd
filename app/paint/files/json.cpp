// Writes a figure as one JSON document.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/paint/files/keys.h"
#include "app/paint/files/table.h"
#include "demos/record/json_fields.h"
#include "headroom_build.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureData;
using nlohmann::json;

json provenance_of(const lessons::FigureHead& head) {
  return {{"program", fmt::format("headroom {}", build::kVersion)},
          {"figure", head.id},
          {"title", head.title},
          {"source", record::key_of(head.source)},
          {"run", head.provenance_line},
          {"caption", head.caption},
          {"provenance", head.provenance}};
}

// Panels store bytes as doubles, which are exact up to 8 PiB.
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
    series.push_back({{"label", each.label}, {"published", each.published}, {"points", std::move(points)}});
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

json states_of(const lessons::HeatMap& map) {
  json states = json::array();
  for (const auto& row : map.states) {
    states.push_back(json::array());
    for (const predict::Verdict state : row) states.back().push_back(predict::key_of(state));
  }
  return states;
}

json cells_of(const lessons::HeatMap& map) {
  json cells = json::array();
  for (const auto& row : map.cells) cells.push_back(row);
  return cells;
}

json boxes_of(const lessons::Lane& lane) {
  json boxes = json::array();
  for (const lessons::TimeBox& box : lane.boxes)
    boxes.push_back({{"begin", box.begin},
                     {"end", box.end},
                     {"kind", key_of(box.work)},
                     {"count", box.count},
                     {"name", box.label},
                     {"what", box.tip}});
  return boxes;
}

void add_lines(json& document, const lessons::Timeline& panel) {
  for (const lessons::StepLine& line : panel.lines) {
    std::vector<record::Bytes> bytes(line.y.size());
    std::transform(line.y.begin(), line.y.end(), bytes.begin(), whole);
    document["lines"].push_back(
        {{"kind", key_of(line.style)}, {"label", line.label}, {"x", line.x}, {"bytes", bytes}, {"end", line.end}});
  }
}

json addresses_of(const lessons::AddressMap& panel) {
  json rows = json::array(), sums = json::array();
  for (const lessons::AddressRow& row : panel.rows) {
    json pieces = json::array();
    for (const lessons::AddressPiece& piece : row.pieces) {
      pieces.push_back({{"kind", lessons::key_of(piece.kind)}, {"begin", piece.begin}, {"end", piece.end}});
      if (piece.kind != lessons::PieceKind::kBlock) continue;
      pieces.back()["category"] = record::key_of(piece.category);
      pieces.back()["requested_bytes"] = piece.requested;
    }
    rows.push_back({{"label", row.label}, {"seams", row.seams}, {"pieces", std::move(pieces)}});
  }
  for (const lessons::AddressSum& sum : panel.sums) {
    sums.push_back({{"kind", lessons::key_of(sum.kind)}, {"label", sum.label}, {"bytes", sum.bytes}});
    if (sum.kind == lessons::PieceKind::kBlock) sums.back()["category"] = record::key_of(sum.category);
  }
  return {{"title", panel.title}, {"rows", std::move(rows)}, {"sums", std::move(sums)}};
}

json traffic_of(const lessons::Traffic& panel) {
  json forms = json::array();
  for (const lessons::TrafficForm& form : panel.forms) {
    json kernels = json::array();
    for (const lessons::TrafficKernel& kernel : form.kernels)
      kernels.push_back({{"label", kernel.label},
                         {"begin", kernel.begin},
                         {"end", kernel.end},
                         {"read_bytes", kernel.read},
                         {"written_bytes", kernel.written},
                         {"kept_bytes", kernel.kept},
                         {"bytes_per_second", kernel.rate()}});
    forms.push_back({{"label", form.label}, {"note", form.note}, {"kernels", std::move(kernels)}});
  }
  return {{"square_bytes", panel.square},
          {"copy_bytes_per_second", panel.copy > 0 ? json(panel.copy) : json(nullptr)},
          {"forms", std::move(forms)}};
}

// Panels of one kind share a list.
struct ToJson {
  json& document;

  void operator()(const lessons::Timeline& panel) const {
    for (const lessons::Band& band : panel.bands)
      document["phases"].push_back(
          {{"label", band.label}, {"begin", band.begin}, {"end", band.end}, {"inside_backward", band.half}});
    for (const lessons::StackColumn& column : panel.stack)
      document["stack"].push_back({{"begin", column.begin},
                                   {"end", column.end},
                                   {"highest", record::to_object(column.high)},
                                   {"lowest", record::to_object(column.low)}});
    add_lines(document, panel);
    for (const lessons::MemoryLevel& level : panel.levels)
      document["ladder"].push_back({{"label", level.label}, {"bytes", level.bytes}});
    if (panel.cap) document["cap"] = {{"label", panel.cap->label}, {"bytes", whole(panel.cap->y)}};
    if (panel.peak) document["peak"] = mark(*panel.peak);
    if (panel.baseline_peak) document["run_a_peak"] = mark(*panel.baseline_peak);
    if (panel.failed)
      document["failed_request"] = {{"x", panel.failed->x},
                                    {"allocated_bytes", whole(panel.failed->base)},
                                    {"requested_bytes", whole(panel.failed->bytes)},
                                    {"label", panel.failed->label}};
    if (panel.alive) document["alive"] = list_of(*panel.alive);
    if (panel.hidden_from) document["hidden_from"] = *panel.hidden_from;
  }
  void operator()(const lessons::Bars& panel) const {
    for (const lessons::Bar& bar : panel.bars)
      document["bars"].push_back({{"category", record::key_of(bar.category)},
                                  {"label", bar.label},
                                  {"bytes", whole(bar.value)},
                                  {"note", bar.note}});
    document["peak"] = {{"x", 0.0}, {"bytes", panel.total}, {"label", panel.total_label}};
  }
  void operator()(const lessons::Rungs& panel) const {
    for (const lessons::Rung& rung : panel.rungs)
      document["rungs"].push_back({{"label", rung.label},
                                   {"peak_by_category", record::to_object(rung.bytes)},
                                   {"compared_with_bytes", rung.before},
                                   {"out_of_memory", rung.out_of_memory},
                                   {"tokens_per_second", rung.speed > 0 ? json(rung.speed) : json(nullptr)},
                                   {"loss", rung.loss},
                                   {"predicted", rung.predicted},
                                   {"note", rung.note}});
  }
  void operator()(const lessons::Chart& panel) const { document["charts"].push_back(chart_of(panel)); }
  void operator()(const lessons::Lanes& panel) const {
    for (const lessons::Lane& lane : panel.lanes)
      document["rows"].push_back({{"label", lane.label}, {"note", lane.note}, {"boxes", boxes_of(lane)}});
  }
  void operator()(const lessons::Table& panel) const {
    for (const lessons::TableRow& row : panel.rows)
      document["table"].push_back(
          {{"name", row.name}, {"note", row.note}, {"columns", panel.columns}, {"cells", row.cells}});
  }
  void operator()(const lessons::Diagram& panel) const {
    json boxes = json::array();
    for (const lessons::DiagramBox& box : panel.boxes)
      boxes.push_back({{"id", box.id},
                       {"state", lessons::key_of(box.state)},
                       {"value", box.value ? json(*box.value) : json(nullptr)},
                       {"marked", box.marked},
                       {"what", box.tip}});
    document["diagrams"].push_back({{"title", panel.title}, {"unit", panel.unit}, {"boxes", std::move(boxes)}});
  }
  void operator()(const lessons::AddressMap& panel) const { document["addresses"] = addresses_of(panel); }
  void operator()(const lessons::Traffic& panel) const { document["traffic"] = traffic_of(panel); }
  void operator()(const lessons::HeatMap& panel) const {
    document["maps"].push_back(
        {{"title", panel.title}, {"rows", panel.rows}, {"columns", panel.columns}, {"cells", cells_of(panel)}});
    if (!panel.states.empty()) document["maps"].back()["verdicts"] = states_of(panel);
  }
};

}  // namespace

std::string provenance_json(const FigureData& figure) {
  return provenance_of(figure.head).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string to_json(const FigureData& figure) {
  const lessons::FigureHead& head = figure.head;
  json document = provenance_of(head);
  const lessons::Axes axes = lessons::axes_of(figure);
  document["x"] = axis(axes.x);
  document["y"] = axis(axes.y);
  if (!head.empty_reason.empty()) document["empty_reason"] = head.empty_reason;
  for (const lessons::Panel& panel : figure.panels) std::visit(ToJson{document}, panel);
  if (head.frames > 0) document["frames"] = head.frames;
  if (head.guess) document["guess_bytes"] = whole(*head.guess);
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace headroom::app::paint
