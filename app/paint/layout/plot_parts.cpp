#include "app/paint/layout/plot_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom::app::paint {
namespace {

using lessons::Timeline;

constexpr int kKinds = record::kNumCategories;

// One kind's upper or lower edge, with vertical joins where neighboring columns both have the kind.
std::vector<Polyline> edge_lines(const std::vector<PxColumn>& columns, int kind, bool upper, Color color, float width,
                                 float least) {
  std::vector<Polyline> lines;
  float last_x = -1;
  const float shift = upper ? width * 0.5f : -width * 0.5f;
  for (const PxColumn& column : columns) {
    if (column.thickness(kind) < least) {
      last_x = -1;
      continue;
    }
    const float y = column.y[static_cast<std::size_t>(upper ? kind + 1 : kind)] + shift;
    if (last_x < 0 || column.x0 - last_x > 0.01f) lines.push_back({.points = {}, .color = color, .width = width});
    lines.back().points.push_back({column.x0, y});
    lines.back().points.push_back({column.x1, y});
    last_x = column.x1;
  }
  return lines;
}

// Drops points within straight lines, for shorter files and fewer vertices.
void add_line(Sheet& sheet, Layer layer, Polyline line) {
  std::vector<Point> kept;
  for (const Point& p : line.points) {
    while (kept.size() >= 2) {
      const Point &a = kept[kept.size() - 2], &b = kept.back();
      const bool straight = (a.x == b.x && b.x == p.x) || (a.y == b.y && b.y == p.y);
      if (!straight) break;
      kept.pop_back();
    }
    if (kept.empty() || !(kept.back() == p)) kept.push_back(p);
  }
  line.points = std::move(kept);
  if (line.points.size() >= 2) sheet.add(layer, std::move(line));
}

// Vertical sides of an outlined kind.
void add_sides(Sheet& sheet, const std::vector<PxColumn>& columns, int kind, Color color, float width, float least) {
  float last_x = -1;
  Rect last{};
  const auto side = [&](float x, const Rect& rect) {
    sheet.vertical(Layer::kStack, x, rect.y0, rect.y1, color, width);
  };
  for (const PxColumn& column : columns) {
    if (column.thickness(kind) < least) continue;
    const Rect rect = column.of(kind);
    if (last_x < 0 || column.x0 - last_x > 0.01f) {
      if (last_x >= 0) side(last.x1 - width, last);
      side(rect.x0, rect);
    }
    last = rect;
    last_x = column.x1;
  }
  if (last_x >= 0) side(last.x1 - width, last);
}

void lay_out_fill(Sheet& sheet, const Timeline& timeline, const std::vector<PxColumn>& columns, int kind) {
  Columns shape{
      .category = static_cast<record::Category>(kind), .color = fill_of(sheet.frame(), timeline, kind), .rects = {}};
  for (const PxColumn& column : columns) {
    const Rect rect = column.of(kind);
    if (rect.height() <= 0) continue;
    auto& rects = shape.rects;
    if (!rects.empty() && rects.back().y0 == rect.y0 && rects.back().y1 == rect.y1 && rects.back().x1 == rect.x0) {
      rects.back().x1 = rect.x1;
    } else {
      rects.push_back(rect);
    }
  }
  if (shape.rects.empty()) return;
  const std::vector<Rect> rects = shape.rects;
  sheet.add(Layer::kStack, std::move(shape));
  const KindColors& colors = sheet.palette().kinds[static_cast<std::size_t>(kind)];
  if (colors.hatched && !is_quiet(sheet.frame(), timeline, kind))
    sheet.hatch(Layer::kStack, rects, colors.edge, kKindHatch);
  if (timeline.passing[static_cast<std::size_t>(kind)].empty()) return;
  std::vector<Rect> passing;
  for (const PxColumn& column : columns)
    if (const Rect rect = column.passing_of(kind); rect.height() > 0) passing.push_back(rect);
  const Color on = is_quiet(sheet.frame(), timeline, kind) ? colors.on_quiet : colors.on_fill;
  if (!passing.empty()) sheet.hatch(Layer::kStack, passing, on, kPassingHatch);
}

// A quiet kind has a 2 px edge under a line in the background's color; other kinds have either an outline or such a
// line.
void lay_out_border(Sheet& sheet, const Timeline& timeline, const std::vector<PxColumn>& columns, int kind) {
  const Palette& palette = sheet.palette();
  const KindColors& colors = palette.kinds[static_cast<std::size_t>(kind)];
  const float thin = sheet.line_px(1), least = 2 * thin;
  if (is_quiet(sheet.frame(), timeline, kind)) {
    const float thick = sheet.line_px(2);
    for (Polyline& line : edge_lines(columns, kind, true, colors.edge, thick, least))
      add_line(sheet, Layer::kStack, std::move(line));
    for (Polyline& line : edge_lines(columns, kind, true, palette.well, thin, least)) {
      for (Point& point : line.points) point.y -= thin;
      add_line(sheet, Layer::kStack, std::move(line));
    }
  } else if (colors.outlined) {
    for (Polyline& line : edge_lines(columns, kind, true, colors.edge, thin, least))
      add_line(sheet, Layer::kStack, std::move(line));
    for (Polyline& line : edge_lines(columns, kind, false, colors.edge, thin, least))
      add_line(sheet, Layer::kStack, std::move(line));
    add_sides(sheet, columns, kind, colors.edge, thin, least);
  } else {
    for (Polyline& line : edge_lines(columns, kind, true, faded(palette.well, 0.9f), thin, least)) {
      add_line(sheet, Layer::kStack, std::move(line));
    }
  }
}

// Outlines the whole stack, 1 px wide, down to the axis where the data ends.
void lay_out_outline(Sheet& sheet, const PlotMap& map, const std::vector<PxColumn>& columns, bool predicted) {
  const float width = sheet.line_px(1), half = width * 0.5f, dash = predicted ? sheet.px(4) : 0;
  Polyline line{.points = {}, .color = sheet.palette().text, .width = width, .dash = dash, .gap = dash * 0.75f};
  float last_x = -1;
  const auto finish = [&] {
    if (line.points.empty()) return;
    add_line(sheet, Layer::kStack, line);
    line.points.clear();
  };
  for (const PxColumn& column : columns) {
    if (column.top() >= map.plot.y1) {
      finish();
      continue;
    }
    if (column.x0 - last_x > 0.01f) finish();
    line.points.push_back({column.x0, column.top() + half});
    line.points.push_back({column.x1, column.top() + half});
    last_x = column.x1;
  }
  if (!line.points.empty() && map.plot.x1 - last_x > 1) {
    line.points.back().x -= half;
    line.points.push_back({last_x - half, map.plot.y1});
  }
  finish();
}

Color line_color(const Palette& palette, lessons::LineStyle style) {
  return style == lessons::LineStyle::kBaseline ? palette.text3 : palette.text2;
}

}  // namespace

bool is_quiet(const Frame& frame, const Timeline& timeline, int kind) {
  if (!frame.palette->quiet_kinds) return false;
  if (frame.lit) return static_cast<int>(*frame.lit) != kind;
  return timeline.quiet[static_cast<std::size_t>(kind)];
}

Color fill_of(const Frame& frame, const Timeline& timeline, int kind) {
  const KindColors& colors = frame.palette->kinds[static_cast<std::size_t>(kind)];
  return is_quiet(frame, timeline, kind) ? colors.quiet : colors.fill;
}

Rect failed_rect(const Sheet& sheet, const Timeline& timeline, const PlotMap& map) {
  if (!timeline.failed) return {};
  const float x0 = sheet.snap(map.x_px(timeline.failed->x));
  if (x0 < map.plot.x0 || x0 >= map.plot.x1) return {};
  const float x1 = std::min(map.plot.x1, x0 + std::max(sheet.px(20), map.plot.width() * 0.05f));
  const float base = std::clamp(sheet.snap(map.y_px(timeline.failed->base)), map.plot.y0, map.plot.y1);
  float top =
      std::clamp(sheet.snap(map.y_px(timeline.failed->base + timeline.failed->bytes)), map.plot.y0, map.plot.y1);
  top = std::max(map.plot.y0, std::min(top, base - sheet.px(4)));  // keeps a small request visible
  return {x0, top, sheet.snap(x1), base};
}

namespace {

double end_of(const lessons::StepLine& line, std::size_t step) {
  return step + 1 < line.x.size() ? line.x[step + 1] : line.end;
}

// The line's highest value at each pixel, as the stack has it, so that equal totals are equal pixels.
std::vector<std::optional<double>> highest_of_pixels(const lessons::StepLine& line, const PlotMap& map) {
  std::vector<std::optional<double>> highest(pixels_in(map));
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    const double end = end_of(line, i);
    if (end <= map.x.low || line.x[i] >= map.x.high) continue;
    const PixelRange pixels = pixels_of(map, line.x[i], end);
    for (std::size_t p = pixels.first; p < pixels.last; ++p)
      highest[p] = std::max(highest[p].value_or(line.y[i]), line.y[i]);
  }
  return highest;
}

}  // namespace

std::vector<Point> step_points(const lessons::StepLine& line, const PlotMap& map, bool whole_pixels, float width) {
  std::vector<Point> points;
  const auto add = [&](float x0, float x1, double value) {
    const float y = whole_pixels ? std::round(map.y_px(value)) : map.y_px(value);
    for (const float x : {x0, x1}) points.push_back({x, std::clamp(y, map.plot.y0, map.plot.y1) + width * 0.5f});
  };
  if (whole_pixels) {
    const std::vector<std::optional<double>> highest = highest_of_pixels(line, map);
    for (std::size_t i = 0, last = 0; i < highest.size(); i = last) {
      while (last < highest.size() && highest[last] == highest[i]) ++last;
      if (highest[i]) add(map.plot.x0 + static_cast<float>(i), map.plot.x0 + static_cast<float>(last), *highest[i]);
    }
    return points;
  }
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    const auto px = [&](double x) { return std::clamp(map.x_px(x), map.plot.x0, map.plot.x1); };
    if (const float x0 = px(line.x[i]), x1 = px(end_of(line, i)); x1 > x0) add(x0, x1, line.y[i]);
  }
  return points;
}

void lay_out_danger_zone(Sheet& sheet, const Timeline& timeline, const PlotMap& map) {
  if (!timeline.cap || timeline.cap->y >= map.y.high) return;
  const Rect zone{map.plot.x0, map.plot.y0, map.plot.x1, sheet.snap(map.y_px(timeline.cap->y))};
  sheet.danger(Layer::kGround, zone);
}

void lay_out_stack(Sheet& sheet, const Timeline& timeline, const PlotMap& map, const std::vector<PxColumn>& columns) {
  for (int kind = 0; kind < kKinds; ++kind) lay_out_fill(sheet, timeline, columns, kind);
  for (int kind = 0; kind < kKinds; ++kind) lay_out_border(sheet, timeline, columns, kind);
  if (timeline.cap && timeline.cap->y < map.y.high) {
    std::vector<Rect> over;
    const float cap = map.y_px(timeline.cap->y);
    for (const PxColumn& column : columns) {
      if (column.top() < cap - 1) over.push_back({column.x0, column.top(), column.x1, cap});
    }
    sheet.hatch(Layer::kStack, over, sheet.palette().dark ? sheet.palette().well : kOverCap, kOverCapHatch);
  }
  lay_out_outline(sheet, map, columns, timeline.predicted);
}

void lay_out_failed(Sheet& sheet, const Timeline& timeline, const PlotMap& map) {
  const Rect rect = failed_rect(sheet, timeline, map);
  if (rect.width() <= 0) return;
  const Palette& palette = sheet.palette();
  sheet.fill(Layer::kStack, rect, mixed(palette.well, palette.danger, 0.18f));
  sheet.hatch(Layer::kStack, {rect}, palette.danger, {5, 1.2f, 0.7f});
  sheet.inside(Layer::kStack, rect, palette.danger, sheet.line_px(1.5f), 0, {sheet.px(4), sheet.px(3)});
}

// Shades what the process takes outside its allocator: between these two lines.
void lay_out_outside_allocator(Sheet& sheet, const lessons::StepLine& process, const lessons::StepLine& reserved,
                               const PlotMap& map) {
  std::vector<double> begins = process.x;
  begins.insert(begins.end(), reserved.x.begin(), reserved.x.end());
  std::ranges::sort(begins);
  const auto at = [](const lessons::StepLine& line, double x) {
    const auto next = std::ranges::upper_bound(line.x, x) - line.x.begin();
    return line.y[static_cast<std::size_t>(std::max<std::ptrdiff_t>(next, 1) - 1)];
  };
  const Color shade = mixed(sheet.palette().well, sheet.palette().text3, 0.25f);
  const double last = std::min(process.end, reserved.end);
  for (std::size_t i = 0; i < begins.size() && begins[i] < last; ++i) {
    const double end = i + 1 < begins.size() ? std::min(begins[i + 1], last) : last;
    const auto px = [&](double x) { return sheet.snap(std::clamp(map.x_px(x), map.plot.x0, map.plot.x1)); };
    const Rect rect{px(begins[i]), map.y_px(at(process, begins[i])), px(end), map.y_px(at(reserved, begins[i]))};
    if (rect.width() > 0 && rect.height() > 0) sheet.fill(Layer::kGround, rect, shade);
  }
}

void lay_out_lines(Sheet& sheet, const Timeline& timeline, const PlotMap& map, const std::vector<bool>& named) {
  const auto reserved = std::ranges::find(timeline.lines, lessons::LineStyle::kReserved, &lessons::StepLine::style);
  for (std::size_t i = 0; i < timeline.lines.size(); ++i) {
    if (!named[i]) continue;
    const lessons::StepLine& line = timeline.lines[i];
    if (line.style == lessons::LineStyle::kProcess && reserved != timeline.lines.end())
      lay_out_outside_allocator(sheet, line, *reserved, map);
    const float width = sheet.line_px(line.style == lessons::LineStyle::kProcess ? 1 : 1.5f);
    const bool dotted = line.style == lessons::LineStyle::kProcess || line.style == lessons::LineStyle::kFormula;
    const float dash = dotted ? sheet.px(2) : line.style == lessons::LineStyle::kPredicted ? sheet.px(5) : 0;
    add_line(sheet, Layer::kLines,
             {.points = step_points(line, map, sheet.frame().whole_pixels, width),
              .color = line_color(sheet.palette(), line.style),
              .width = width,
              .dash = dash,
              .gap = dash});
  }
  if (!timeline.cap || timeline.cap->y >= map.y.high) return;
  sheet.horizontal(Layer::kLines, map.plot.x0, map.plot.x1, sheet.snap(map.y_px(timeline.cap->y)),
                   sheet.palette().danger, sheet.line_px(2));
}

void lay_out_hidden(Sheet& sheet, const Timeline& timeline, const PlotMap& map) {
  if (!timeline.hidden_from) return;
  const Palette& palette = sheet.palette();
  const float x = std::clamp(sheet.snap(map.x_px(*timeline.hidden_from)), map.plot.x0, map.plot.x1);
  sheet.fill(Layer::kHidden, {x, map.plot.y0, map.plot.x1, map.plot.y1}, faded(palette.canvas, palette.opacity.cover));
  const float width = sheet.line_px(1), middle = x + width * 0.5f;
  sheet.line(Layer::kHidden, {{middle, map.plot.y0}, {middle, map.plot.y1}}, palette.text2, width, {sheet.px(3)});
}

void lay_out_cursor(Sheet& sheet, const Timeline& timeline, const PlotMap& map, const std::vector<PxColumn>& columns,
                    float from_y, float to_y) {
  const Palette& palette = sheet.palette();
  const float width = sheet.line_px(1);
  const float x = std::min(sheet.snap(map.x_px(timeline.alive->position)), map.plot.x1 - width);
  sheet.vertical(Layer::kMarks, x, from_y, to_y, palette.text, width);
  const float center = x + width * 0.5f;
  const auto column = std::find_if(columns.begin(), columns.end(), [&](const PxColumn& c) { return c.x1 > x; });
  if (column == columns.end() || column->x0 > x + 1) return;
  // The peak already has a ring.
  if (timeline.peak && std::abs(map.x_px(timeline.peak->x) - center) < sheet.px(8)) return;
  sheet.add(Layer::kMarks, Disc{.center = {center, column->top()},
                                .radius = sheet.px(4),
                                .fill = palette.text,
                                .stroke = palette.well,
                                .stroke_width = 1.5f * sheet.frame().scale});
}

}  // namespace headroom::app::paint
