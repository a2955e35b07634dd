// Divides the frame among the header and the rows of panels.
#include "app/paint/layout/layout.h"

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "app/paint/layout/description.h"
#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

void lay_out_empty(Sheet& sheet, const lessons::FigureHead& head, Rect area) {
  const float dash = sheet.px(4);
  sheet.add(Layer::kGround, Outline{.rect = area,
                                    .color = sheet.palette().control,
                                    .width = sheet.line_px(1),
                                    .radius = sheet.px(8),
                                    .dash = dash,
                                    .gap = dash});
  const Type type{Face::kRegular, 13};
  sheet.text_mid(Layer::kLabels, type, sheet.palette().text2,
                 sheet.shortened(type, head.empty_reason, area.width() - sheet.px(24)), area.center_x(),
                 area.center_y(), Anchor::kMiddle);
}

// Width of the list beside a timeline; 0 where there is no room for both.
float side_width(const Sheet& sheet, const lessons::Timeline& timeline, float room) {
  const Frame& frame = sheet.frame();
  const bool wanted = (frame.parts.alive && timeline.alive) || (frame.parts.levels && !timeline.levels.empty());
  if (!wanted) return 0;
  if (!frame.parts.plot) return room;
  const float width =
      frame.compact ? sheet.px(212) : std::clamp(sheet.snap(room * 0.25f), sheet.px(212), sheet.px(292));
  return room - width >= sheet.px(260) ? width : 0;
}

// Panels that share a row: neighbors of one kind, where they go side by side.
using Row = std::span<const lessons::Panel>;

bool goes_beside(const lessons::Panel& panel) {
  return std::holds_alternative<lessons::Chart>(panel) || std::holds_alternative<lessons::HeatMap>(panel);
}

std::vector<Row> rows_of(Row panels) {
  std::vector<Row> rows;
  while (!panels.empty()) {
    std::size_t count = 1;
    while (count < panels.size() && goes_beside(panels.front()) && panels[count].index() == panels.front().index())
      ++count;
    rows.push_back(panels.first(count));
    panels = panels.subspan(count);
  }
  return rows;
}

float weight_of(const Row& row) { return std::holds_alternative<lessons::Chart>(row.front()) ? 0.45f : 0.55f; }

// How the rows share the height: by weight, but a table beside other panels has room for all its rows, where that leaves
// the others a third, and no more than it needs.
std::vector<float> shares_of(const Sheet& sheet, const std::vector<Row>& rows, float height) {
  std::vector<float> shares(rows.size());
  float weights = 0, rest = height, open = 0;
  for (const Row& row : rows) weights += weight_of(row);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto* table = rows.size() > 1 ? std::get_if<lessons::Table>(&rows[i].front()) : nullptr;
    if (table == nullptr) {
      open += weight_of(rows[i]);
      continue;
    }
    const Heights heights = heights_of(sheet, *table);
    shares[i] = std::clamp(height * weight_of(rows[i]) / weights, heights.least, heights.most);
    shares[i] = std::min(shares[i], height * 2 / 3);
    rest -= shares[i];
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (shares[i] == 0 && open > 0) shares[i] = rest * weight_of(rows[i]) / open;
  return shares;
}

struct LayOutRow {
  Sheet& sheet;
  const lessons::FigureHead& head;
  Row row;
  Rect area;

  void operator()(const lessons::Timeline& timeline) const {
    Rect plot = area;
    if (const float side = side_width(sheet, timeline, area.width()); side > 0) {
      lay_out_side(sheet, timeline, {area.x1 - side, area.y0, area.x1, area.y1});
      plot.x1 -= side + sheet.px(sheet.frame().compact ? 16 : 24);
    }
    if (sheet.frame().parts.plot) lay_out_plot(sheet, head, timeline, plot);
  }
  void operator()(const lessons::Bars& panel) const { lay_out_bars(sheet, panel, area); }
  void operator()(const lessons::Rungs& panel) const { lay_out_rungs(sheet, head, panel, area); }
  void operator()(const lessons::Chart&) const {
    lay_out_charts(sheet, head, lessons::panels_of<lessons::Chart>(row), area);
  }
  void operator()(const lessons::Lanes& panel) const { lay_out_lanes(sheet, panel, area); }
  void operator()(const lessons::Table& table) const { lay_out_table(sheet, table, area); }
  void operator()(const lessons::Diagram& diagram) const { lay_out_diagram(sheet, diagram, area); }
  void operator()(const lessons::HeatMap&) const {
    lay_out_maps(sheet, lessons::panels_of<lessons::HeatMap>(row), area);
  }
};

}  // namespace

ByteUnit byte_unit(double axis_high) {
  const auto in = [](record::Bytes bytes) { return static_cast<double>(bytes); };
  if (axis_high >= 2 * in(record::kGiB)) return {"GiB", in(record::kGiB)};
  if (axis_high >= 2 * in(record::kMiB)) return {"MiB", in(record::kMiB)};
  if (axis_high >= 2 * in(record::kKiB)) return {"KiB", in(record::kKiB)};
  return {"B", 1};
}

ByteUnit guess_unit(lessons::AxisUnit unit, double high) {
  if (unit == lessons::AxisUnit::kBytesPerSecond) return {"GB/s", 1e9};
  if (unit == lessons::AxisUnit::kPercent) return {"%", 1};
  return byte_unit(high);
}

Scene layout(const lessons::FigureData& figure, const Frame& frame) {
  Scene scene;
  scene.width = frame.width;
  scene.height = frame.height;
  scene.ground = frame.palette->card;
  scene.title = figure.head.title;
  scene.description = description_of(figure);
  Sheet sheet(scene, frame);
  // The window's card has its own margins; a file has none around it.
  const float margin = frame.parts.header ? sheet.px(frame.compact ? 12 : 20) : 0;
  Rect area{margin, margin, frame.width - margin, frame.height - margin};
  if (frame.parts.header) area.y0 += lay_out_header(sheet, figure.head, area);
  if (!figure.head.empty_reason.empty()) {
    lay_out_empty(sheet, figure.head, area);
    return scene;
  }
  const std::vector<Row> rows = rows_of(figure.panels);
  const float between = sheet.px(16) * static_cast<float>(rows.size() - 1);
  const std::vector<float> shares = shares_of(sheet, rows, area.height() - between);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    Rect part = area;
    if (i + 1 < rows.size()) part.y1 = area.y0 + shares[i];
    if (frame.parts.plot || std::holds_alternative<lessons::Timeline>(row.front()))
      std::visit(LayOutRow{sheet, figure.head, row, part}, row.front());
    area.y0 = part.y1 + sheet.px(16);
  }
  return scene;
}

}  // namespace headroom::app::paint
