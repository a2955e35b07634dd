// Lanes of kernels, below a timeline or above a time axis. The program's own kernels are ink, other kernels gray, and
// copies, layers and operations hollow: color is reserved for memory, such as weights that a rank holds for a while.
#include <algorithm>
#include <utility>

#include "app/paint/layout/plot_parts.h"
#include "app/paint/scene/ticks.h"

namespace headroom::app::paint {
namespace {

using lessons::Lane;
using lessons::TimeBox;
using lessons::Work;

constexpr float kThinLane = 0.4f;

struct BoxLook {
  Color fill;
  bool hollow = false;
};

BoxLook look_of(const Palette& palette, Work work) {
  if (work == Work::kOurs) return {palette.ink};
  if (work == Work::kProduct) return {palette.work.product};
  if (work == Work::kOther || work == Work::kHost || work == Work::kSum) return {palette.work.other};
  if (work == Work::kHeld) return {palette.of(record::Category::kWeights).fill};
  return {palette.well, true};  // copies, gathers and zones
}

Color text_on(const Palette& palette, Color fill) {
  return contrast(palette.text, fill) > contrast(palette.well, fill) ? palette.text : palette.well;
}

// Empty for the host's work, which its lane names.
std::string_view name_of(Work work, bool on_cpu) {
  if (work == Work::kOurs) return "fused, of this program";
  if (work == Work::kProduct) return "products, attention";
  if (work == Work::kOther) return on_cpu ? "other operators" : "other kernels";
  if (work == Work::kGather) return "gathers";
  if (work == Work::kSum) return "sums";
  if (work == Work::kHeld) return "held whole";
  return work == Work::kMove ? "copies" : "";
}

// The first words that fit ("gate" of "gate projection"), or a long word's beginning.
std::string fitting(const Sheet& sheet, std::string label, float room) {
  while (sheet.width(kLabelType, label) > room) {
    const std::size_t blank = label.rfind(' ');
    if (blank == std::string::npos) {
      constexpr std::size_t kWorthReading = 9;  // least bytes of a shortened label, with the ellipsis
      label = sheet.shortened(kLabelType, label, room);
      return label.size() < kWorthReading ? std::string() : label;
    }
    label.resize(blank);
  }
  return label;
}

// A hollow box too thin for an outline is filled.
void lay_out_sample(Sheet& sheet, Layer layer, const Rect& rect, const BoxLook& look) {
  const float hair = sheet.line_px(1);
  const bool thin = rect.width() <= 2 * hair;
  sheet.fill(layer, rect, look.hollow && thin ? sheet.palette().control : look.fill);
  if (look.hollow && !thin) sheet.inside(layer, rect, sheet.palette().control, hair);
}

void lay_out_box(Sheet& sheet, const PlotMap& map, const TimeBox& box, Rect row) {
  const float x0 = std::clamp(map.x_px(box.begin), map.plot.x0, map.plot.x1);
  const float x1 = std::clamp(map.x_px(box.end), map.plot.x0, map.plot.x1);
  if (box.end < map.x.low || box.begin > map.x.high) return;
  const float hair = sheet.line_px(1);
  const float left = sheet.snap(x0);
  // A hairline gap separates neighbors that are wide enough.
  const float right = std::max(sheet.snap(x1) - (x1 - x0 > 4 * hair ? hair : 0), left + hair);
  const Rect rect{left, row.y0, right, row.y1};
  const BoxLook look = look_of(sheet.palette(), box.work);
  lay_out_sample(sheet, Layer::kBars, rect, look);
  if (box.selected) {
    const float out = sheet.line_px(2);
    sheet.outline(Layer::kMarks, rect.inset(-out), sheet.palette().focus, out);
  }
  const float room = rect.width() - sheet.px(3);
  const bool legible = rect.height() >= 0.6f * sheet.height(kLabelType);  // letters are lower than their line
  if (!box.label.empty() && legible && room > sheet.px(6)) {
    if (const std::string label = fitting(sheet, box.label, room); !label.empty())
      sheet.text_mid(Layer::kLabels, kLabelType, text_on(sheet.palette(), look.fill), label, rect.center_x(),
                     rect.center_y(), Anchor::kMiddle);
  }
  sheet.scene().hits.push_back({.rect = rect, .category = {}, .tip = box.tip, .span = box.span});
}

bool has_work(const std::vector<Lane>& lanes, Work work) {
  return std::any_of(lanes.begin(), lanes.end(), [work](const Lane& lane) {
    return std::any_of(lane.boxes.begin(), lane.boxes.end(), [work](const TimeBox& box) { return box.work == work; });
  });
}

bool has_kernels(const std::vector<Lane>& lanes) {
  return has_work(lanes, Work::kOurs) || has_work(lanes, Work::kProduct) || has_work(lanes, Work::kOther) ||
         has_work(lanes, Work::kMove);
}

void lay_out_kinds(Sheet& sheet, const std::vector<Lane>& lanes, Rect line) {
  const bool on_cpu = !has_work(lanes, Work::kHost);
  Legend legend{.layer = Layer::kAxes, .type = kLabelType, .sample_width = 12, .sample_height = 10};
  for (const Work work :
       {Work::kOurs, Work::kProduct, Work::kOther, Work::kMove, Work::kGather, Work::kSum, Work::kHeld}) {
    if (!has_work(lanes, work)) continue;
    legend.entries.push_back({std::string(name_of(work, on_cpu)), [&sheet, work](const Rect& sample) {
                                lay_out_sample(sheet, Layer::kAxes, sample, look_of(sheet.palette(), work));
                              }});
  }
  lay_out_legend(sheet, legend, line, 1);
}

struct LaneSizes {
  float lane = 0, gap = 0, line = 0;
  float notes = 0, gaps = 0;  // number of note lines, number of gaps
  float shares = 0;           // sum over all lanes; a thin lane counts as kThinLane

  float all() const { return line * (1 + notes) + shares * lane + gaps * gap; }
};

float share_of(const Lane& lane) { return lane.thin ? kThinLane : 1; }

bool has_thin(const lessons::Lanes& panel) {
  return std::any_of(panel.lanes.begin(), panel.lanes.end(), [](const Lane& lane) { return lane.thin; });
}

LaneSizes sizes_of(const Sheet& sheet, const lessons::Lanes& panel, float room, float least, float most) {
  LaneSizes sizes{.lane = 0, .gap = sheet.px(6), .line = sheet.snap(sheet.height(kLabelType) + sheet.px(8))};
  for (const Lane& lane : panel.lanes) {
    sizes.notes += lane.note.empty() ? 0 : 1;
    sizes.shares += share_of(lane);
  }
  sizes.gaps = static_cast<float>(panel.lanes.size());
  sizes.lane =
      sheet.snap(std::clamp((room - sizes.all()) / std::max(sizes.shares, 1.0f), sheet.px(least), sheet.px(most)));
  return sizes;
}

constexpr float kSearchWidth = 160;  // px at scale 1

// Returns the lanes' rectangles.
std::vector<Rect> lay_out_rows(Sheet& sheet, const PlotMap& map, const lessons::Lanes& panel, const LaneSizes& sizes,
                               float y) {
  const Palette& palette = sheet.palette();
  std::vector<Rect> rows;
  for (const Lane& lane : panel.lanes) {
    if (!lane.note.empty()) {
      float room = map.plot.width();
      if (rows.empty() && sheet.frame().parts.search && has_kernels(panel.lanes)) {
        sheet.scene().search = Rect{map.plot.x1 - sheet.px(kSearchWidth), y, map.plot.x1, y + sizes.line - sheet.px(2)};
        room -= sheet.px(kSearchWidth + 8);
      }
      const std::string note = sheet.shortened(kStrongType, lane.note, room);
      sheet.text_mid(Layer::kLabels, kStrongType, lane.baseline ? palette.text2 : palette.text, note, map.plot.x0,
                     y + sizes.line * 0.5f);
      y += sizes.line;
    }
    const Rect rect{map.plot.x0, sheet.snap(y), map.plot.x1, sheet.snap(y + sizes.lane * share_of(lane))};
    sheet.fill(Layer::kGround, rect, palette.well);
    sheet.horizontal(Layer::kGround, rect.x0, rect.x1, rect.y1, palette.grid, sheet.line_px(1));
    sheet.text_mid(Layer::kAxes, kMediumType, palette.text2, lane.label, map.plot.x0 - sheet.px(8), rect.center_y(),
                   Anchor::kEnd);
    if (lane.action) {
      const float left = map.plot.x0 - sheet.px(8) - sheet.width(kMediumType, lane.label);
      sheet.scene().hits.push_back({.rect = {left, rect.y0, map.plot.x0, rect.y1},
                                    .category = {},
                                    .tip = "Show " + lane.label,
                                    .action = lane.action});
    }
    for (const TimeBox& box : lane.boxes) lay_out_box(sheet, map, box, rect);
    rows.push_back(rect);
    y += sizes.lane * share_of(lane) + sizes.gap;
  }
  return rows;
}

// An arrow between the edges of two lanes, or above one lane's upper edge. An end out of view has no arrowhead.
void lay_out_flow(Sheet& sheet, const PlotMap& map, const lessons::Flow& flow, const std::vector<Rect>& rows) {
  const Rect &from = rows[flow.from_lane], &to = rows[flow.to_lane];
  const auto place = [&](double x) { return std::clamp(map.x_px(x), map.plot.x0, map.plot.x1); };
  const float over = sheet.px(3), head = sheet.px(4), x0 = place(flow.from), x1 = place(flow.to);
  const bool same = flow.from_lane == flow.to_lane, up = to.y0 < from.y0;
  const Point begin{x0, same || up ? from.y0 : from.y1}, end{x1, up ? to.y1 : to.y0};
  std::vector<Point> points{begin};
  if (same) {
    points.push_back({x0, from.y0 - over});
    points.push_back({x1, from.y0 - over});
  }
  points.push_back(end);
  const Palette& palette = sheet.palette();
  const float width = sheet.line_px(1.5f);
  sheet.line(Layer::kMarks, points, palette.well, 3 * width);
  sheet.line(Layer::kMarks, points, palette.focus, width);
  if (flow.to < map.x.low || flow.to > map.x.high) return;
  const float back = end.y + (up ? head : -head);
  sheet.line(Layer::kMarks, {{x1 - head, back}, end, {x1 + head, back}}, palette.focus, width);
}

constexpr float kLeastBelow = 16, kMostBelow = 44;  // px at scale 1: height of a lane below a plot
constexpr float kShareBelow = 0.56f;                // share of the height, all lanes together

// Drops lanes from the bottom until the rest fits. Returns their names.
template <class Fits>
std::vector<std::string> drop_lanes(lessons::Lanes& panel, const Fits& fits) {
  std::vector<std::string> names;
  while (panel.lanes.size() > 1 && !fits()) {
    names.insert(names.begin(), panel.lanes.back().label);
    panel.lanes.pop_back();
    panel.flows.clear();
  }
  return names;
}

}  // namespace

float lanes_height(const Sheet& sheet, const lessons::Lanes& panel, float room) {
  return sheet.px(8) + sizes_of(sheet, panel, room * kShareBelow, kLeastBelow, kMostBelow).all();
}

float readable_height(const Sheet& sheet, const lessons::Lanes& panel) {
  LaneSizes sizes = sizes_of(sheet, panel, 0, 0, 0);
  const float name = sheet.height(kLabelType);
  sizes.lane = has_thin(panel) ? std::max(name, (name - sizes.gap) / kThinLane) : name;
  return sizes.all() + sheet.height(kLabelType) + sheet.px(8);
}

float lane_names_width(const Sheet& sheet, const lessons::Lanes& panel) {
  float widest = 0;
  for (const Lane& lane : panel.lanes) widest = std::max(widest, sheet.width(kMediumType, lane.label));
  return widest;
}

lessons::Lanes with_room(lessons::Lanes all, const lessons::Lanes& whole) {
  const std::vector<Lane> shown = std::exchange(all.lanes, {});
  std::size_t next = 0;
  for (const Lane& lane : whole.lanes) {
    const bool there =
        next < shown.size() && shown[next].label == lane.label && lane.note.starts_with(shown[next].note);
    const std::string note = lane.note.empty() ? "" : " ";
    all.lanes.push_back(there ? shown[next++] : Lane{.label = "", .note = note, .thin = lane.thin, .boxes = {}});
  }
  if (next < shown.size()) all.lanes = shown;  // the figures are not alike
  if (all.lanes.size() > shown.size()) all.flows.clear();
  return all;
}

void lay_out_lanes_below(Sheet& sheet, const PlotMap& map, const lessons::Lanes& panel, Rect area) {
  area.y0 += sheet.px(8);
  const LaneSizes sizes = sizes_of(sheet, panel, area.height(), kLeastBelow, kMostBelow);
  lay_out_kinds(sheet, panel.lanes, {map.plot.x0, area.y0, map.plot.x1, area.y0 + sizes.line});
  const std::vector<Rect> rows = lay_out_rows(sheet, map, panel, sizes, area.y0 + sizes.line);
  if (rows.empty()) return;
  sheet.scene().lanes = Rect{map.plot.x0, rows.front().y0, map.plot.x1, rows.back().y1};
  for (const lessons::Flow& flow : panel.flows) lay_out_flow(sheet, map, flow, rows);
}

void lay_out_lanes(Sheet& sheet, const lessons::Lanes& shown, const lessons::Lanes& whole, Rect area) {
  lessons::Lanes panel = with_room(shown, whole);
  PlotMap& map = sheet.scene().map;
  const float below = sheet.snap(sheet.height(kLabelType) + sheet.px(8));
  // Many lanes of one height may be low, so that they leave room for what is below; thin lanes are low already.
  constexpr std::size_t kMany = 6;
  const float least = panel.lanes.size() > kMany && !has_thin(panel) ? 5 : 10;
  const float room = area.height() - below;
  const std::vector<std::string> left_out =
      drop_lanes(panel, [&] { return sizes_of(sheet, panel, room, least, least).all() <= room; });
  const LaneSizes sizes = sizes_of(sheet, panel, room, least, 72);
  map.x = panel.x;
  map.plot = {sheet.snap(area.x0 + lane_names_width(sheet, whole) + sheet.px(12)), area.y0 + sizes.line, area.x1, 0};
  map.plot.x1 = std::max(map.plot.x1, map.plot.x0 + 1);
  Rect legend{area.x0, area.y0, area.x1, area.y0 + sizes.line};
  const Rect mark = lay_out_more(sheet, Layer::kAxes, {"row", left_out}, area.x1, legend.center_y(), Anchor::kEnd);
  if (!left_out.empty()) legend.x1 = mark.x0 - sheet.px(10);
  lay_out_kinds(sheet, panel.lanes, legend);
  const std::vector<Rect> rows = lay_out_rows(sheet, map, panel, sizes, map.plot.y0);
  map.plot.y1 = rows.empty() ? map.plot.y0 + 1 : rows.back().y1;
  sheet.horizontal(Layer::kAxes, map.plot.x0, map.plot.x1, map.plot.y1, sheet.palette().control, sheet.line_px(1));
  lay_out_time_ticks(sheet, map, {});
}

}  // namespace headroom::app::paint
