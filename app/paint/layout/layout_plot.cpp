// A memory timeline: phases on top, axes, stack, limit, lines, the hidden part, the cursor and labels.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/paint/layout/plot_kinds.h"
#include "app/paint/scene/ticks.h"
#include "lessons/steps/alive.h"

namespace headroom::app::paint {
namespace {

using lessons::Band;
using lessons::Timeline;

struct PlotAreas {
  Rect bands;
  Rect lanes;        // including their names; empty without lanes
  float x_axis = 0;  // y of the line above the time ticks
  PlotMap map;
  std::vector<Tick> y_ticks;
  std::vector<EdgeName> outside;
};

constexpr float kLeastPlot = 64;  // px at scale 1: least height of the memory plot above lanes

PlotAreas divide(const Sheet& sheet, const Timeline& timeline, const PlotPanels& whole, Rect area) {
  const lessons::Lanes* lanes = whole.lanes;
  PlotAreas areas;
  const float band = sheet.snap(sheet.height(kMediumType) + sheet.px(8)), gap = sheet.px(4);
  const float below = sheet.snap(sheet.height(kLabelType) + sheet.px(8));
  areas.map.x = timeline.x;
  areas.map.y = timeline.y;
  Rect& plot = areas.map.plot;
  plot = {area.x0, area.y0 + band + gap, area.x1, area.y1 - below};
  areas.x_axis = sheet.snap(plot.y1);
  // A small picture omits the lanes.
  const float below_plot = lanes == nullptr ? 0 : lanes_height(sheet, *lanes, plot.height());
  if (plot.height() - below_plot < sheet.px(kLeastPlot)) lanes = nullptr;
  if (lanes != nullptr) plot.y1 -= below_plot;
  const int most = std::max(2, static_cast<int>(plot.height() / sheet.px(46)));
  areas.y_ticks = byte_ticks(timeline.y, most);
  float labels = sheet.width(kMediumType, lessons::unit_of(timeline.y).name);
  for (const Tick& tick : areas.y_ticks) labels = std::max(labels, sheet.width(kLabelType, tick.label));
  for (const Tick& tick : byte_ticks(whole.timeline.y, most))
    labels = std::max(labels, sheet.width(kLabelType, tick.label));
  if (lanes != nullptr) labels = std::max(labels, lane_names_width(sheet, *lanes));
  plot.x0 = sheet.snap(plot.x0 + labels + sheet.px(10));
  areas.outside = edge_names(sheet, timeline, plot.height(), plot.width());
  plot.x1 -= width_of(sheet, edge_names(sheet, whole.timeline, plot.height(), plot.width()));
  plot = {plot.x0, sheet.snap(plot.y0), std::max(sheet.snap(plot.x1), plot.x0 + 1),
          std::max(sheet.snap(plot.y1), plot.y0 + 1)};
  areas.bands = {plot.x0, area.y0, plot.x1, area.y0 + band};
  if (lanes != nullptr) areas.lanes = {area.x0, plot.y1, plot.x1, areas.x_axis};
  return areas;
}

void lay_out_band(Sheet& sheet, const PlotAreas& areas, const Band& band) {
  const Rect& row = areas.bands;
  const float gap = sheet.line_px(2);
  const float x0 = std::clamp(sheet.snap(areas.map.x_px(band.begin)), row.x0, row.x1);
  float x1 = std::clamp(sheet.snap(areas.map.x_px(band.end)), row.x0, row.x1);
  if (x1 - x0 < sheet.line_px(1)) return;
  x1 = std::max(x1 - gap, x0 + sheet.line_px(1));
  const Rect rect{x0, band.half ? sheet.snap(row.center_y()) : row.y0, x1, row.y1};
  const Color color = sheet.palette().phase[static_cast<std::size_t>(std::clamp(band.tone, 0, 3))];
  sheet.fill(Layer::kBands, rect, color, std::min(sheet.px(band.half ? 1 : 3), rect.width() * 0.5f));
  sheet.scene().hits.push_back({rect, std::nullopt, band.label});
}

void lay_out_band_label(Sheet& sheet, const PlotAreas& areas, const Band& band) {
  const Rect& row = areas.bands;
  const float x0 = std::clamp(areas.map.x_px(band.begin), row.x0, row.x1);
  const float x1 = std::clamp(areas.map.x_px(band.end), row.x0, row.x1) - sheet.line_px(2);
  for (const std::string& label : {band.label, band.short_label}) {
    for (const float smaller : {0.0f, 1.0f}) {
      const Type type{kMediumType.face, kMediumType.em - smaller};
      if (label.empty() || sheet.width(type, label) > x1 - x0 - sheet.px(smaller > 0 ? 2 : 6)) continue;
      sheet.text_mid(Layer::kBands, type, sheet.palette().text, label, (x0 + x1) * 0.5f, row.center_y(),
                     Anchor::kMiddle);
      return;
    }
  }
}

void lay_out_bands(Sheet& sheet, const Timeline& timeline, const PlotAreas& areas) {
  for (const bool half : {false, true}) {  // recompute is drawn over the backward band
    for (const Band& band : timeline.bands) {
      if (band.half == half) lay_out_band(sheet, areas, band);
    }
  }
  for (const Band& band : timeline.bands) {
    if (!band.half) lay_out_band_label(sheet, areas, band);
  }
}

void lay_out_ground(Sheet& sheet, const PlotAreas& areas) {
  const Rect& plot = areas.map.plot;
  sheet.fill(Layer::kGround, plot, sheet.palette().well);
  for (const Tick& tick : areas.y_ticks) {
    const float y = sheet.snap(areas.map.y_px(tick.value));
    if (tick.value > 0 && y > plot.y0) {
      sheet.horizontal(Layer::kGround, plot.x0, plot.x1, y, sheet.palette().grid, sheet.line_px(1));
    }
  }
}

}  // namespace

void lay_out_time_ticks(Sheet& sheet, const PlotMap& map, std::span<const Rect> taken) {
  const Rect& plot = map.plot;
  const TimeTicks ticks = time_ticks(map.x, std::max(1, static_cast<int>(plot.width() / sheet.px(90))));
  bool unit_said = false;
  for (auto tick = ticks.ticks.rbegin(); tick != ticks.ticks.rend(); ++tick) {
    const std::string label = unit_said ? tick->label : tick->label + " " + std::string(ticks.unit);
    const float x = map.x_px(tick->value), half = sheet.width(kLabelType, label) * 0.5f;
    const bool fits = x - half >= plot.x0 && x + half <= plot.x1 + sheet.px(2);
    const bool covered = std::any_of(taken.begin(), taken.end(), [&](const Rect& rect) {
      return rect.width() > 0 && x + half + sheet.px(4) > rect.x0 && x - half - sheet.px(4) < rect.x1;
    });
    // The other axis already shows 0.
    if (!fits || covered || tick->value <= 0) continue;
    sheet.text(Layer::kAxes, kLabelType, sheet.palette().text3, label, x, plot.y1 + sheet.px(4), Anchor::kMiddle);
    unit_said = true;
  }
}

namespace {

// Names without a place, and lanes without room.
std::vector<LeftOut> left_out_of(const PlotPanels& panels, const PlotAreas& areas, const PlotNames& names) {
  LeftOut lines{.what = "line", .names = {}}, rows{.what = "row", .names = {}};
  for (std::size_t i = 0; i < names.lines.size(); ++i)
    if (!names.lines[i]) lines.names.push_back(panels.timeline.lines[i].label);
  if (panels.lanes != nullptr && areas.lanes.height() <= 0)
    for (const lessons::Lane& lane : panels.lanes->lanes) rows.names.push_back(lane.label);
  LeftOut kinds{.what = "kind", .names = names.kinds}, labels{.what = "label", .names = names.labels};
  std::vector<LeftOut> all;
  for (LeftOut* each : {&lines, &kinds, &labels, &rows}) {
    each->count = each->names.size();
    if (each->count > 0) all.push_back(std::move(*each));
  }
  return all;
}

float width_of(const Sheet& sheet, const std::vector<LeftOut>& all) {
  float width = 0;
  for (const LeftOut& each : all) width += more_width(sheet, each.what, each.count) + sheet.px(10);
  return width;
}

// The left end, at least `x`, of a place below the plot, `width` wide and clear of the cursor's chip; empty if there is
// none.
std::optional<float> free_below(const Sheet& sheet, const Rect& plot, const Rect& chip, float x, float width) {
  const float gap = sheet.px(10);
  for (const float at : {x, plot.x1 - width + gap, chip.x1 + gap, chip.x0 - width}) {
    const bool clear = chip.width() <= 0 || chip.x0 >= at + width - gap || chip.x1 <= at;
    if (at >= x && at + width - gap <= plot.x1 && clear) return at;
  }
  return std::nullopt;
}

// Returns the area covered.
Rect lay_out_left_out(Sheet& sheet, const std::vector<LeftOut>& all, float x, float top) {
  const float line = sheet.height(kLabelType);
  Rect covered{x, top, x, top + line};
  for (const LeftOut& each : all) {
    covered.x1 = lay_out_more(sheet, Layer::kAxes, each, x, top + line * 0.5f).x1;
    x = covered.x1 + sheet.px(10);
  }
  return covered;
}

void lay_out_ticks(Sheet& sheet, const Timeline& timeline, const PlotAreas& areas, Rect chip,
                   std::vector<LeftOut> left_out) {
  const Rect& plot = areas.map.plot;
  const Palette& palette = sheet.palette();
  sheet.horizontal(Layer::kAxes, plot.x0, plot.x1, plot.y1, palette.control, sheet.line_px(1));
  const float right = plot.x0 - sheet.px(7);
  sheet.text_mid(Layer::kAxes, kMediumType, palette.text3, std::string(lessons::unit_of(timeline.y).name), right,
                 areas.bands.center_y(), Anchor::kEnd);
  for (const Tick& tick : areas.y_ticks) {
    sheet.text_mid(Layer::kAxes, kLabelType, palette.text3, tick.label, right, areas.map.y_px(tick.value),
                   Anchor::kEnd);
  }
  PlotMap axis = areas.map;
  axis.plot.y1 = areas.x_axis;
  if (areas.x_axis > plot.y1)
    sheet.horizontal(Layer::kAxes, plot.x0, plot.x1, areas.x_axis, palette.control, sheet.line_px(1));
  // The axis is named at its beginning if there is room.
  Rect name{plot.x0, areas.x_axis, plot.x0 + sheet.width(kLabelType, timeline.x.name), areas.x_axis};
  if (name.width() * 2 > plot.width() || (chip.width() > 0 && chip.x0 < name.x1 + sheet.px(4))) name = {};
  float marks = width_of(sheet, left_out);
  const float behind = name.width() > 0 ? name.x1 + sheet.px(10) : plot.x0;
  std::optional<float> at = free_below(sheet, plot, chip, behind, marks);
  if (!at) {
    name = {};
    at = free_below(sheet, plot, chip, plot.x0, marks);
  }
  if (!at && left_out.size() > 1) {  // one mark counts all
    LeftOut all{.what = "name", .names = {}};
    for (const LeftOut& each : left_out) all.names.insert(all.names.end(), each.names.begin(), each.names.end());
    all.count = all.names.size();
    left_out = {std::move(all)};
    marks = width_of(sheet, left_out);
    at = free_below(sheet, plot, chip, plot.x0, marks);
  }
  if (name.width() > 0)
    sheet.text(Layer::kAxes, kLabelType, palette.text3, timeline.x.name, plot.x0, areas.x_axis + sheet.px(4));
  const Rect marked = lay_out_left_out(sheet, left_out, at.value_or(plot.x0), areas.x_axis + sheet.px(4));
  lay_out_time_ticks(sheet, axis, std::array{chip, name, marked});
}

// The box of the cursor's chip; empty without a cursor.
Rect chip_of(const Sheet& sheet, const Timeline& timeline, const PlotAreas& areas, std::string& label) {
  const PlotMap& map = areas.map;
  if (!timeline.alive || !timeline.alive->at_cursor) return {};
  const float x = map.x_px(timeline.alive->position);
  if (x < map.plot.x0 - 1 || x > map.plot.x1 + 1) return {};
  label = lessons::position_text(timeline.alive->position, timeline.x);
  const float half = sheet.width(kStrongType, label) * 0.5f + sheet.px(6);
  const float middle = std::max(map.plot.x0 + half, std::min(x, map.plot.x1 - half));
  const float top = areas.x_axis + sheet.px(3);
  return {sheet.snap(middle - half), top, sheet.snap(middle + half),
          top + sheet.snap(sheet.height(kStrongType) + sheet.px(3))};
}

}  // namespace

void lay_out_plot(Sheet& sheet, const lessons::FigureHead& head, const PlotPanels& panels, const PlotPanels& whole,
                  Rect area) {
  const Timeline& timeline = panels.timeline;
  const PlotAreas areas = divide(sheet, timeline, whole, area);
  const PlotMap& map = areas.map;
  sheet.scene().map = map;
  const std::vector<PxColumn> columns = px_columns(timeline, map, sheet.frame().whole_pixels);
  lay_out_bands(sheet, timeline, areas);
  lay_out_ground(sheet, areas);
  lay_out_danger_zone(sheet, timeline, map);
  lay_out_stack(sheet, timeline, map, columns);
  lay_out_failed(sheet, timeline, map);
  lay_out_hidden(sheet, timeline, map);
  if (areas.lanes.height() > 0 && panels.lanes == nullptr)
    lay_out_empty(sheet, std::string(lessons::kPartOfAnswer),
                  {map.plot.x0, areas.lanes.y0 + sheet.px(8), map.plot.x1, areas.lanes.y1 - sheet.px(4)});
  else if (areas.lanes.height() > 0)
    lay_out_lanes_below(sheet, map, with_room(*panels.lanes, *whole.lanes), areas.lanes);
  const auto below_marks = static_cast<std::ptrdiff_t>(sheet.scene().items.size());
  std::string time;
  const Rect chip = chip_of(sheet, timeline, areas, time);
  if (chip.width() > 0) lay_out_cursor(sheet, timeline, map, columns, areas.bands.y1, areas.x_axis);
  const PlotNames names = lay_out_labels(sheet, head, timeline, map, columns, areas.outside);
  // Lines without a place for their label are not drawn, so labels are placed first and the lines then rotated below
  // them. The lines lie over the hidden part's cover, because figures with a hidden part have only the limit and the
  // baseline.
  auto& items = sheet.scene().items;
  const auto first_line = static_cast<std::ptrdiff_t>(items.size());
  lay_out_lines(sheet, timeline, map, names.lines);
  std::rotate(items.begin() + below_marks, items.begin() + first_line, items.end());
  lay_out_ticks(sheet, timeline, areas, chip, left_out_of(panels, areas, names));
  lay_out_edge_names(sheet, areas.outside, columns, map);
  if (chip.width() > 0) {
    sheet.fill(Layer::kMarks, chip, sheet.palette().ink, sheet.px(4));
    sheet.text_mid(Layer::kMarks, kStrongType, sheet.palette().on_ink, time, chip.center_x(), chip.center_y(),
                   Anchor::kMiddle);
  }
}

}  // namespace headroom::app::paint
