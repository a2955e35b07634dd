// Divides the frame among header, plot and list.
#include "app/paint/layout/layout.h"

#include <algorithm>

#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

std::string description_of(const lessons::FigureData& figure) {
  if (!figure.empty_reason.empty()) return figure.empty_reason;
  std::string text = figure.provenance_line + ".";
  if (figure.peak) text += " The " + figure.peak->label + ".";
  for (const lessons::Bar& bar : figure.bars) text += " " + bar.label + " " + bar.value_text + ".";
  for (const lessons::Rung& rung : figure.rungs) text += " " + rung.tip + ".";
  if (figure.table)
    for (const lessons::TableRow& row : figure.table->rows) text += " " + row.tip + ".";
  for (const lessons::HeatMap& map : figure.maps) text += " " + map.title + ".";
  for (const lessons::TimeRow& row : figure.rows)
    if (!row.note.empty()) text += " " + row.note + ".";
  for (const lessons::Chart& chart : figure.charts) {
    if (!chart.title.empty()) text += " " + chart.title + ".";
    for (const lessons::ChartSeries& series : chart.series)
      for (const lessons::ChartPoint& point : series.points)
        if (!point.tip.empty()) text += " " + point.tip + ".";
  }
  if (figure.failed && figure.cap)
    text += " The run ended on the " + figure.cap->label + ": it " + figure.failed->label + ".";
  if (figure.cursor) text += " Alive at " + figure.cursor->when + ":";
  const std::size_t rows = figure.cursor ? std::min<std::size_t>(3, figure.cursor->rows.size()) : 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const lessons::ListRow& row = figure.cursor->rows[i];
    text += (i == 0 ? " " : ", ") + row.name + " " + record::format_bytes(row.bytes);
  }
  return rows > 0 ? text + "." : text;
}

void lay_out_empty(Sheet& sheet, const lessons::FigureData& figure, Rect area) {
  const float dash = sheet.px(4);
  sheet.add(Layer::kGround, Outline{.rect = area,
                                    .color = sheet.palette().control,
                                    .width = sheet.line_px(1),
                                    .radius = sheet.px(8),
                                    .dash = dash,
                                    .gap = dash});
  const Type type{Face::kRegular, 13};
  sheet.text_mid(Layer::kLabels, type, sheet.palette().text2,
                 sheet.shortened(type, figure.empty_reason, area.width() - sheet.px(24)), area.center_x(),
                 area.center_y(), Anchor::kMiddle);
}

// Width of the list beside the plot; 0 where there is no room for both.
float side_width(const Sheet& sheet, const lessons::FigureData& figure, float room) {
  const Frame& frame = sheet.frame();
  const bool wanted = (frame.parts.alive && figure.cursor) || (frame.parts.ladder && !figure.ladder.empty());
  if (!wanted || !figure.empty_reason.empty() || !figure.bars.empty()) return 0;
  if (!frame.parts.plot) return room;
  const float width =
      frame.compact ? sheet.px(212) : std::clamp(sheet.snap(room * 0.25f), sheet.px(212), sheet.px(292));
  return room - width >= sheet.px(260) ? width : 0;
}

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
  scene.title = figure.title;
  scene.description = description_of(figure);
  Sheet sheet(scene, frame);
  // The window's card has its own margins; a file stands alone.
  const float margin = frame.parts.header ? sheet.px(frame.compact ? 12 : 20) : 0;
  Rect area{margin, margin, frame.width - margin, frame.height - margin};
  if (frame.parts.header) area.y0 += lay_out_header(sheet, figure, area);
  if (!figure.empty_reason.empty()) {
    lay_out_empty(sheet, figure, area);
    return scene;
  }
  if (const float side = side_width(sheet, figure, area.width()); side > 0) {
    lay_out_side(sheet, figure, {area.x1 - side, area.y0, area.x1, area.y1});
    area.x1 -= side + sheet.px(frame.compact ? 16 : 24);
  }
  if (!frame.parts.plot) return scene;
  if (figure.table) {
    lay_out_table(sheet, *figure.table, area);
  } else if (!figure.bars.empty()) {
    lay_out_bars(sheet, figure, area);
  } else if (!figure.rungs.empty()) {
    lay_out_rungs(sheet, figure, area);
  } else if (!figure.maps.empty()) {
    if (!figure.charts.empty()) {
      Rect above = area;
      above.y1 = area.y0 + area.height() * 0.45f;
      lay_out_charts(sheet, figure, above);
      area.y0 = above.y1 + sheet.px(16);
    }
    lay_out_maps(sheet, figure.maps, area);
  } else if (!figure.charts.empty()) {
    lay_out_charts(sheet, figure, area);
  } else if (!figure.rows.empty()) {
    lay_out_rows(sheet, figure, area);
  } else {
    lay_out_plot(sheet, figure, area);
  }
  return scene;
}

}  // namespace headroom::app::paint
