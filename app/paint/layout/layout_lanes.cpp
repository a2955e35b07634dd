// A kernel timeline: a lane for the host and one per stream, boxes where something ran, time below. Ink is a kernel
// of this repository, the grays what others brought, hollow what only moves memory: color belongs to memory.
#include <algorithm>

#include "app/paint/layout/plot_parts.h"
#include "app/paint/layout/sheet.h"
#include "app/paint/scene/ticks.h"

namespace headroom::app::paint {
namespace {

using lessons::Lane;
using lessons::TimeBox;
using lessons::Work;

constexpr float kThinLane = 0.4f;

struct BoxLook {
  Color fill, text;
};

BoxLook look_of(const Palette& palette, Work work) {
  switch (work) {
    case Work::kOurs:
      return {palette.ink, palette.on_ink};
    case Work::kProduct:
      return {palette.control, palette.well};
    case Work::kOther:
      return {palette.phase[3], palette.text};
    case Work::kMove:
      return {palette.well, palette.text};
    case Work::kHost:
      break;
  }
  return {palette.phase[1], palette.text};
}

std::string_view name_of(Work work, bool on_cpu) {
  switch (work) {
    case Work::kOurs:
      return "fused, of this program";
    case Work::kProduct:
      return "products, attention";
    case Work::kOther:
      return on_cpu ? "other operators" : "other kernels";
    case Work::kMove:
      return "copies";
    case Work::kHost:
      return "calls of the host";
  }
  return "";
}

// What is pale has an outline; where that is all there is room for, it is filled.
void lay_out_sample(Sheet& sheet, Layer layer, const Rect& rect, const BoxLook& look) {
  const Palette& palette = sheet.palette();
  const float hair = sheet.line_px(1);
  const bool pale = contrast(look.fill, palette.well) < 3, thin = rect.width() <= 2 * hair;
  sheet.fill(layer, rect, pale && thin ? palette.text3 : look.fill);
  if (pale && !thin)
    sheet.add(layer, Outline{.rect = rect.inset(hair * 0.5f), .color = palette.control, .width = hair});
}

void lay_out_box(Sheet& sheet, const PlotMap& map, const TimeBox& box, Rect row) {
  const float x0 = std::clamp(map.x_px(box.begin), map.plot.x0, map.plot.x1);
  const float x1 = std::clamp(map.x_px(box.end), map.plot.x0, map.plot.x1);
  if (box.end < map.x.low || box.begin > map.x.high) return;
  const float hair = sheet.line_px(1);
  const float left = sheet.snap(x0);
  // A gap of a hair stays between neighbors where they are wide enough to have one.
  const float right = std::max(sheet.snap(x1) - (x1 - x0 > 4 * hair ? hair : 0), left + hair);
  const Rect rect{left, row.y0, right, row.y1};
  const BoxLook look = look_of(sheet.palette(), box.work);
  lay_out_sample(sheet, Layer::kBars, rect, look);
  const float room = rect.width() - sheet.px(6);
  if (!box.label.empty() && room > sheet.px(18)) {
    const std::string label = sheet.shortened(kLabelType, box.label, room);
    constexpr std::size_t kWorthReading = 9;  // bytes, the dots included
    if (label.size() >= kWorthReading || label == box.label)
      sheet.text_mid(Layer::kLabels, kLabelType, look.text, label, rect.center_x(), rect.center_y(), Anchor::kMiddle);
  }
  sheet.scene().hits.push_back({rect, std::nullopt, box.tip});
}

// One line: a sample and its word for each kind that is there.
void lay_out_legend(Sheet& sheet, const std::vector<Lane>& lanes, Rect line) {
  float x = line.x0;
  bool on_cpu = true;
  for (const Lane& lane : lanes)
    for (const TimeBox& box : lane.boxes) on_cpu = on_cpu && box.work != Work::kHost;
  for (const Work work : {Work::kOurs, Work::kProduct, Work::kOther, Work::kMove, Work::kHost}) {
    const bool there = std::any_of(lanes.begin(), lanes.end(), [work](const Lane& lane) {
      return std::any_of(lane.boxes.begin(), lane.boxes.end(), [work](const TimeBox& box) { return box.work == work; });
    });
    const std::string name(name_of(work, on_cpu));
    const float width = sheet.px(12) + sheet.px(6) + sheet.width(kLabelType, name);
    if (!there || x + width > line.x1) continue;
    const Rect sample{x, sheet.snap(line.center_y() - sheet.px(5)), x + sheet.px(12),
                      sheet.snap(line.center_y() + sheet.px(5))};
    const BoxLook look = look_of(sheet.palette(), work);
    lay_out_sample(sheet, Layer::kAxes, sample, look);
    sheet.text_mid(Layer::kAxes, kLabelType, sheet.palette().text2, name, x + sheet.px(18), line.center_y());
    x += width + sheet.px(16);
  }
}

}  // namespace

void lay_out_lanes(Sheet& sheet, const lessons::Lanes& panel, Rect area) {
  const Palette& palette = sheet.palette();
  const float line = sheet.snap(sheet.height(kLabelType) + sheet.px(8));
  float names = 0;
  int notes = 0;
  for (const Lane& lane : panel.lanes) {
    names = std::max(names, sheet.width(kMediumType, lane.label));
    notes += !lane.note.empty();
  }
  PlotMap& map = sheet.scene().map;
  map.x = panel.x;
  map.plot = {sheet.snap(area.x0 + names + sheet.px(12)), area.y0 + line, area.x1, area.y1 - line};
  map.plot.x1 = std::max(map.plot.x1, map.plot.x0 + 1);
  lay_out_legend(sheet, panel.lanes, {area.x0, area.y0, area.x1, area.y0 + line});

  const float gap = sheet.px(6);
  const auto count = static_cast<float>(panel.lanes.size());
  const auto share_of = [](const Lane& lane) { return lane.thin ? kThinLane : 1.0f; };
  float shares = 0;
  for (const Lane& lane : panel.lanes) shares += share_of(lane);
  const float room = map.plot.height() - static_cast<float>(notes) * line - count * gap;
  const float whole = std::clamp(room / std::max(shares, 1.0f), sheet.px(10), sheet.px(72));
  float y = map.plot.y0;
  for (const Lane& lane : panel.lanes) {
    if (!lane.note.empty()) {
      const std::string note = sheet.shortened(kStrongType, lane.note, map.plot.width());
      sheet.text_mid(Layer::kLabels, kStrongType, lane.baseline ? palette.text2 : palette.text, note, map.plot.x0,
                     y + line * 0.5f);
      y += line;
    }
    const float height = sheet.snap(whole * share_of(lane));
    const Rect rect{map.plot.x0, sheet.snap(y), map.plot.x1, sheet.snap(y + height)};
    sheet.fill(Layer::kGround, rect, palette.well);
    sheet.horizontal(Layer::kGround, rect.x0, rect.x1, rect.y1, palette.grid, sheet.line_px(1));
    sheet.text_mid(Layer::kAxes, kMediumType, palette.text2, lane.label, map.plot.x0 - sheet.px(8), rect.center_y(),
                   Anchor::kEnd);
    for (const TimeBox& box : lane.boxes) lay_out_box(sheet, map, box, rect);
    y += height + gap;
  }
  map.plot.y1 = std::max(y - gap, map.plot.y0 + 1);
  sheet.horizontal(Layer::kAxes, map.plot.x0, map.plot.x1, map.plot.y1, palette.control, sheet.line_px(1));
  lay_out_time_ticks(sheet, map, {});
}

}  // namespace headroom::app::paint
