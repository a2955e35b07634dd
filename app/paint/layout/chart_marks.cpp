// Marks of a chart with their names, and crosses for points that ran out of memory.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/paint/layout/chart_layout.h"
#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {

using lessons::ChartPoint;
using lessons::ChartSeries;

namespace {

bool crosses(Point a, Point b, const Rect& box) {
  if (a.x > b.x) std::swap(a, b);
  const float from = std::max(box.x0, a.x), to = std::min(box.x1, b.x);
  if (from > to) return false;
  const auto y_at = [&](float x) { return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x); };
  const float first = b.x == a.x ? a.y : y_at(from), second = b.x == a.x ? b.y : y_at(to);
  return std::min(first, second) < box.y1 && std::max(first, second) > box.y0;
}

}  // namespace

void ChartLayout::take_marks(const ChartSeries& series) {
  const float r = sheet_.px(5);
  for (const ChartPoint& point : series.points) {
    if (point.out_of_memory) continue;
    const float x = x_px(point.x), y = y_px(point.y);
    taken_.push_back({x - r, y - r, x + r, y + r});
  }
}

void ChartLayout::marks() {
  for (const ChartSeries& series : chart_.series) take_marks(series);
  failures();
  place_reference_labels();
  end_names();
  for (const bool published : {true, false})  // published points are painted first
    for (std::size_t s = 0; s < chart_.series.size(); ++s)
      if (chart_.series[s].published == published) marks_of(s);
}

void ChartLayout::marks_of(std::size_t s) {
  std::vector<Point> points;
  std::vector<const ChartPoint*> values;
  for (const ChartPoint& point : chart_.series[s].points) {
    if (point.out_of_memory) continue;
    points.push_back({x_px(point.x), y_px(point.y)});
    values.push_back(&point);
  }
  // Dense lines have no marks.
  const bool apart = !chart_.joined || plot_.width() >= sheet_.px(10) * static_cast<float>(points.size());
  if (chart_.joined && points.size() > 1) lay_out_line(sheet_, points, looks_[s]);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ChartPoint& point = *values[i];
    whisker(point, points[i].x, line_color(palette_, looks_[s]));
    if (apart) lay_out_mark(sheet_, points[i], looks_[s]);
    if (point.tip.empty()) {
      if (!point.label.empty()) left_out_.push_back(point.label);
      continue;
    }
    const float reach = sheet_.px(8);
    sheet_.scene().hits.push_back({{points[i].x - reach, points[i].y - reach, points[i].x + reach, points[i].y + reach},
                                   std::nullopt,
                                   point.tip});
    mark_label(point, points[i]);
  }
}

// A hollow mark under a cross.
void ChartLayout::failure(Point at, const Look& look, const ChartPoint& point) {
  const float r = sheet_.px(6), width = sheet_.line_px(1.5f);
  lay_out_mark(sheet_, at, {look.kind, true, 0, {}});
  for (const float side : {-1.0f, 1.0f})
    sheet_.line(Layer::kMarks, {{at.x - r, at.y - side * r}, {at.x + r, at.y + side * r}}, palette_.danger, width);
  taken_.push_back({at.x - r, at.y - r, at.x + r, at.y + r});
  sheet_.scene().hits.push_back({{at.x - 2 * r, at.y - r, at.x + 2 * r, at.y + r}, std::nullopt, point.tip});
  if (!point.would_be || said_failed_) return;
  const std::string words = "out of memory";
  said_failed_ = place_label(kLabelType, palette_.danger, words, at,
                             around(at, sheet_.width(kLabelType, words), sheet_.height(kLabelType)));
}

void ChartLayout::failures() {
  const float r = sheet_.px(6), line = sheet_.snap(sheet_.px(16));
  float y = plot_.y0 + line * 0.6f;
  float leftmost = plot_.x1;
  bool said = false;
  for (std::size_t s = 0; s < chart_.series.size(); ++s) {
    const bool room = y + 2 * line < plot_.y1;
    float first = plot_.x1, last = plot_.x0;
    for (const ChartPoint& point : chart_.series[s].points) {
      if (!point.out_of_memory) continue;
      const float x = x_px(point.x);
      if (!room || (point.would_be && point.y > chart_.y.high)) {
        left_out_.push_back(joined(chart_.series[s].label, ": ", point.tip.empty() ? "out of memory" : point.tip));
        continue;
      }
      if (point.would_be) {
        failure({x, y_px(point.y)}, looks_[s], point);
        continue;
      }
      first = std::min(first, x);
      last = std::max(last, x);
      failure({x, y}, looks_[s], point);
    }
    if (first > last) continue;
    if (!said) said = say_failed(first - sheet_.px(10), last + sheet_.px(10), y);
    leftmost = std::min(leftmost, first);
    y += line;
  }
  if (!said && leftmost < plot_.x1) say_failed(plot_.x1, leftmost - r, y);
}

bool ChartLayout::say_failed(float before, float behind, float middle) {
  const std::string words = "out of memory";
  const float width = sheet_.width(kLabelType, words), half = sheet_.height(kLabelType) * 0.5f;
  const bool fits_before = before < plot_.x1 && before - width > plot_.x0;
  if (!fits_before && behind + width > plot_.x1) return false;
  const float x0 = fits_before ? before - width : behind;
  const Rect box{x0, middle - half, x0 + width, middle + half};
  sheet_.fill(Layer::kLabels, box, palette_.well);
  sheet_.text_mid(Layer::kLabels, kLabelType, palette_.danger, words, x0, middle);
  taken_.push_back(box);
  return true;
}

// Boxes right of the point, left, above and below, then farther away.
std::vector<Rect> ChartLayout::around(Point at, float width, float height) const {
  std::vector<Rect> places;
  const float gap = sheet_.px(8);
  for (const float x0 : {at.x + gap, at.x - gap - width, at.x - width * 0.5f})
    for (const float lift : {0.0f, -0.8f, 0.8f, -1.2f, 1.2f})
      places.push_back({x0, at.y - height * (0.5f - lift), x0 + width, at.y + height * (0.5f + lift)});
  for (const float away : {24.0f, 40.0f, 60.0f, 84.0f, 110.0f})
    for (const auto& [dx, dy] : {std::pair{1.0f, 0.0f},
                                 {0.8f, 0.6f},
                                 {0.8f, -0.6f},
                                 {0.0f, 1.0f},
                                 {0.0f, -1.0f},
                                 {-0.8f, 0.6f},
                                 {-0.8f, -0.6f},
                                 {-1.0f, 0.0f}}) {
      const Point end{at.x + dx * sheet_.px(away), at.y + dy * sheet_.px(away)};
      const float x0 = dx > 0 ? end.x : dx < 0 ? end.x - width : end.x - width * 0.5f;
      places.push_back({x0, end.y - height * 0.5f, x0 + width, end.y + height * 0.5f});
    }
  return places;
}

bool ChartLayout::place_label(Type type, Color color, const std::string& text, Point at,
                              const std::vector<Rect>& places) {
  for (const Rect& box : places) {
    if (!box.inside(plot_) || !is_free(box) || crosses_line(box)) continue;
    const Point end{std::clamp(at.x, box.x0, box.x1), std::clamp(at.y, box.y0, box.y1)};
    const float away = std::hypot(end.x - at.x, end.y - at.y), from = sheet_.px(6);
    if (away > sheet_.px(16)) {  // needs a leader line, which may cross no label
      const Point begin{at.x + (end.x - at.x) * from / away, at.y + (end.y - at.y) * from / away};
      const auto struck = [&](const Rect& other) { return crosses(begin, end, other); };
      if (std::any_of(texts_.begin(), texts_.end(), struck)) continue;
      sheet_.line(Layer::kMarks, {begin, end}, palette_.control, sheet_.line_px(1));
      lines_.push_back({begin, end});
    }
    taken_.push_back(box);
    texts_.push_back(box);
    sheet_.text(Layer::kLabels, type, color, text, box.x0, box.y0);
    return true;
  }
  return false;
}

void ChartLayout::mark_label(const ChartPoint& point, Point at) {
  if (point.label.empty()) return;
  if (!place_label(kLabelType, palette_.text2, point.label, at,
                   around(at, sheet_.width(kLabelType, point.label), sheet_.height(kLabelType))))
    left_out_.push_back(point.label);
}

void ChartLayout::end_names() {
  if (!names_ends(sheet_, area_.width())) return;
  for (const ChartSeries& series : chart_.series) {
    const auto last = std::find_if(series.points.rbegin(), series.points.rend(),
                                   [](const ChartPoint& point) { return !point.out_of_memory; });
    if (!series.named_at_end || last == series.points.rend()) continue;
    const Point at{x_px(last->x), y_px(last->y)};
    if (!place_label(kMediumType, palette_.text, series.label, at,
                     around(at, sheet_.width(kMediumType, series.label), sheet_.height(kMediumType))))
      left_out_.push_back(series.label);
  }
}

bool ChartLayout::crosses_line(const Rect& box) const {
  for (const auto& line : lines_)
    for (std::size_t i = 1; i < line.size(); ++i)
      if (crosses(line[i - 1], line[i], box)) return true;
  return false;
}

}  // namespace headroom::app::paint
