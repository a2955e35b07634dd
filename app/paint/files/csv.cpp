// Writes a figure's panels as CSV tables.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/paint/files/keys.h"
#include "app/paint/files/table.h"
#include "headroom_build.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureData;
using record::Category;

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

// Losses differ only in a float's last digits.
std::string value_of(const lessons::Axis& axis, double value) {
  return axis.unit == lessons::AxisUnit::kNumber ? fmt::format("{:.9g}", value) : number(value);
}

std::string name_at(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? names[index] : fmt::format("{}", index);
}

constexpr std::string_view kChartHead = "chart,series,published,x,value,p20,p80,unit\n";

std::string chart_rows(const lessons::Chart& chart) {
  std::string out;
  for (const lessons::ChartSeries& series : chart.series)
    for (const lessons::ChartPoint& point : series.points) {
      out += fmt::format("{},{},{},{},", quoted(chart.title), quoted(series.label), series.published ? "yes" : "no",
                         quoted(place_of(chart, point)));
      if (point.out_of_memory)
        out += ",,,out of memory\n";
      else
        out += fmt::format("{},{},{},{}\n", value_of(chart.y, point.y), value_of(chart.y, point.low),
                           value_of(chart.y, point.high), key_of(chart.y.unit));
    }
  return out;
}

std::string map_rows(const lessons::HeatMap& map) {
  std::string out;
  for (std::size_t r = 0; r < map.cells.size(); ++r)
    for (std::size_t c = 0; c < map.cells[r].size(); ++c)
      if (std::isfinite(map.cells[r][c]))
        out += fmt::format("{},{},no,{},{:.9g},,,{}\n", quoted(map.title), quoted(name_at(map.rows, r)),
                           quoted(name_at(map.columns, c)), map.cells[r][c],
                           map.states.empty() ? "" : predict::key_of(map.states[r][c]));
  return out;
}

// ",weights_bytes,…"
std::string kind_heads() {
  std::string heads;
  for (int i = 0; i < record::kNumCategories; ++i)
    heads += fmt::format(",{}_bytes", record::key_of(static_cast<Category>(i)));
  return heads;
}

std::string rung_rows(const lessons::Rungs& panel) {
  std::string out;
  for (const lessons::Rung& rung : panel.rungs) {
    out += quoted(rung.label);
    for (const record::Bytes bytes : rung.bytes) out += fmt::format(",{}", bytes);
    out +=
        fmt::format(",{},{},{},{},{},{},{}\n", record::total(rung.bytes), rung.before, rung.out_of_memory ? "yes" : "no",
                    rung.speed > 0 ? number(rung.speed) : "", rung.loss, rung.predicted ? "yes" : "no", quoted(rung.note));
  }
  return out;
}

std::string lane_rows(const lessons::Lanes& panel) {
  std::string out;
  for (const lessons::Lane& lane : panel.lanes)
    for (const lessons::TimeBox& box : lane.boxes)
      out +=
          fmt::format("{},{},{},{},{},{},{}\n", quoted(lane.label), number(box.begin), number(box.end),
                      key_of(box.work), box.count, box.bytes >= 0 ? fmt::format("{}", box.bytes) : "", quoted(box.tip));
  return out;
}

std::string table_head(const lessons::Table& table) {
  std::string head = "name,note";
  for (const std::string& column : table.columns) head += "," + quoted(column);
  return head + "\n";
}

std::string table_rows(const lessons::Table& table) {
  std::string out;
  for (const lessons::TableRow& row : table.rows) {
    out += quoted(row.name) + "," + quoted(row.note);
    for (const std::string& cell : row.cells) out += "," + quoted(cell);
    out += "\n";
  }
  return out;
}

// The line's value at `x`; empty outside its range.
std::string value_at(const lessons::StepLine& line, double x) {
  const auto after = std::upper_bound(line.x.begin(), line.x.end(), x);
  if (after == line.x.begin() || x >= line.end) return "";
  return number(line.y[static_cast<std::size_t>(after - line.x.begin()) - 1]);
}

std::string timeline_head(const lessons::Timeline& panel) {
  std::string head = fmt::format("begin_{0},end_{0}", key_of(panel.x.unit));
  head += kind_heads() + ",allocated_bytes,lowest_allocated_bytes";
  for (const lessons::StepLine& line : panel.lines) head += fmt::format(",{}_bytes", key_of(line.style));
  return head + "\n";
}

std::string timeline_rows(const lessons::Timeline& panel) {
  std::string out;
  for (const lessons::StackColumn& column : panel.stack) {
    out += number(column.begin) + "," + number(column.end);
    for (const record::Bytes bytes : column.high) out += fmt::format(",{}", bytes);
    out += fmt::format(",{},{}", record::total(column.high), record::total(column.low));
    for (const lessons::StepLine& line : panel.lines) out += "," + value_at(line, (column.begin + column.end) / 2);
    out += "\n";
  }
  return out;
}

std::string bar_rows(const lessons::Bars& panel) {
  std::string out;
  for (const lessons::Bar& bar : panel.bars) {
    out += fmt::format("{},{},{},{}\n", record::key_of(bar.category), quoted(bar.label), number(bar.value),
                       quoted(bar.note));
  }
  return out;
}

std::string box_rows(const lessons::Diagram& diagram) {
  std::string out;
  for (const lessons::DiagramBox& box : diagram.boxes)
    out += fmt::format("{},{},{},{}\n", quoted(box.id), lessons::key_of(box.state), box.value ? number(*box.value) : "",
                       quoted(box.tip));
  return out;
}

std::string piece_rows(const lessons::AddressMap& panel) {
  std::string out;
  for (const lessons::AddressRow& row : panel.rows)
    for (const lessons::AddressPiece& piece : row.pieces) {
      const bool block = piece.kind == lessons::PieceKind::kBlock;
      out += fmt::format("{},{},{},{},{},{},{}\n", quoted(row.label), lessons::key_of(piece.kind), piece.begin,
                         piece.end - piece.begin, block ? record::key_of(piece.category) : "",
                         block ? std::to_string(piece.requested) : "", quoted(piece.tip));
    }
  return out;
}

std::string traffic_rows(const lessons::Traffic& panel) {
  std::string out;
  for (const lessons::TrafficForm& form : panel.forms)
    for (const lessons::TrafficKernel& kernel : form.kernels)
      out += fmt::format("{},{},{},{},{},{},{},{},{}\n", quoted(form.label), quoted(kernel.label), number(kernel.begin),
                         number(kernel.end), kernel.read, kernel.written, kernel.kept, number(kernel.rate()),
                         panel.copy > 0 ? number(panel.copy) : "");
  return out;
}

struct Csv {
  std::string head, rows;
};

struct ToCsv {
  Csv operator()(const lessons::Timeline& panel) const { return {timeline_head(panel), timeline_rows(panel)}; }
  Csv operator()(const lessons::Bars& panel) const { return {"category,label,bytes,note\n", bar_rows(panel)}; }
  Csv operator()(const lessons::Rungs& panel) const {
    return {"rung" + kind_heads() + ",peak_bytes,compared_with_bytes,out_of_memory,tokens_per_second,loss,predicted,note\n",
            rung_rows(panel)};
  }
  Csv operator()(const lessons::Chart& panel) const { return {std::string(kChartHead), chart_rows(panel)}; }
  Csv operator()(const lessons::Lanes& panel) const {
    return {"row,begin_ns,end_ns,kind,count,bytes,what\n", lane_rows(panel)};
  }
  Csv operator()(const lessons::Table& panel) const { return {table_head(panel), table_rows(panel)}; }
  Csv operator()(const lessons::Diagram& panel) const {
    return {fmt::format("box,state,{},what\n", panel.unit), box_rows(panel)};
  }
  Csv operator()(const lessons::AddressMap& panel) const {
    return {"row,piece,begin_bytes,bytes,category,requested_bytes,what\n", piece_rows(panel)};
  }
  Csv operator()(const lessons::Traffic& panel) const {
    return {"form,kernel,begin_ns,end_ns,read_bytes,written_bytes,kept_bytes,bytes_per_second,copy_bytes_per_second\n",
            traffic_rows(panel)};
  }
  Csv operator()(const lessons::HeatMap& panel) const { return {std::string(kChartHead), map_rows(panel)}; }
};

}  // namespace

std::string to_csv(const FigureData& figure) {
  const lessons::FigureHead& head = figure.head;
  std::string out = fmt::format("# {}\n# program: headroom {}\n# source: {}\n", one_line(head.title), build::kVersion,
                                record::key_of(head.source));
  if (!head.provenance_line.empty()) out += "# run: " + one_line(head.provenance_line) + "\n";
  if (!head.caption.empty()) out += "# caption: " + one_line(head.caption) + "\n";
  for (const auto& [key, value] : head.provenance) out += fmt::format("# {}: {}\n", one_line(key), one_line(value));
  if (!head.empty_reason.empty()) return out + "# empty: " + one_line(head.empty_reason) + "\n";
  std::string columns;  // of the current table
  for (const lessons::Panel& panel : figure.panels) {
    const Csv table = std::visit(ToCsv{}, panel);
    if (table.head != columns) out += (columns.empty() ? "" : "\n") + table.head;
    columns = table.head;
    out += table.rows;
  }
  return out;
}

}  // namespace headroom::app::paint
