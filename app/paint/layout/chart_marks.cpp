// Marks of a chart, joined or not, with their names; and the crosses of what ran out of memory.
#include <algorithm>
#include <utility>

#include "app/paint/layout/chart_layout.h"
#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {

using lessons::ChartPoint;
using lessons::ChartSeries;

void ChartLayout::marks() {
  const float r = sheet_.px(5);
  for (const ChartSeries& series : chart_.series)  // labels keep off every mark
    for (const ChartPoint& point : series.points) {
      if (point.out_of_memory) continue;
      const float x = x_px(point.x), y = y_px(point.y);
      taken_.push_back({x - r, y - r, x + r, y + r});
    }
  failures();
  place_reference_labels();
  for (const bool published : {true, false}) {  // published points go behind
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      if (chart_.series[s].published != published) continue;
      std::vector<Point> points;
      std::vector<const ChartPoint*> values;
      for (const ChartPoint& point : chart_.series[s].points) {
        if (point.out_of_memory) continue;
        points.push_back({x_px(point.x), y_px(point.y)});
        values.push_back(&point);
      }
      // A line of many points needs no mark on each.
      const bool apart = !chart_.joined || plot_.width() >= sheet_.px(10) * static_cast<float>(points.size());
      if (chart_.joined && points.size() > 1) lay_out_line(sheet_, points, looks_[s]);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const ChartPoint& point = *values[i];
        whisker(point, points[i].x, line_color(palette_, looks_[s]));
        if (apart) lay_out_mark(sheet_, points[i], looks_[s]);
        if (point.tip.empty()) continue;
        const float reach = sheet_.px(8);
        sheet_.scene().hits.push_back(
            {{points[i].x - reach, points[i].y - reach, points[i].x + reach, points[i].y + reach},
             std::nullopt,
             point.tip});
        mark_label(point, points[i]);
      }
    }
  }
}

void ChartLayout::failures() {
  const float r = sheet_.px(6), width = sheet_.line_px(1.5f), line = sheet_.snap(sheet_.px(16));
  float y = plot_.y0 + line * 0.6f;
  float leftmost = plot_.x1;
  bool said = false;
  for (std::size_t s = 0; s < chart_.series.size() && y + 2 * line < plot_.y1; ++s) {
    float first = plot_.x1, last = plot_.x0;
    for (const ChartPoint& point : chart_.series[s].points) {
      if (!point.out_of_memory) continue;
      const float x = x_px(point.x);
      first = std::min(first, x);
      last = std::max(last, x);
      lay_out_mark(sheet_, {x, y}, {looks_[s].kind, true, 0, {}});
      for (const float side : {-1.0f, 1.0f})
        sheet_.add(Layer::kMarks, Polyline{.points = {{x - r, y - side * r}, {x + r, y + side * r}},
                                           .color = palette_.danger,
                                           .width = width});
      taken_.push_back({x - r, y - r, x + r, y + r});
      sheet_.scene().hits.push_back({{x - 2 * r, y - r, x + 2 * r, y + r}, std::nullopt, point.tip});
    }
    if (first > last) continue;
    if (!said) said = say_failed(first - sheet_.px(10), last + sheet_.px(10), y);
    leftmost = std::min(leftmost, first);
    y += line;
  }
  if (!said && leftmost < plot_.x1) say_failed(plot_.x1, leftmost - r, y);  // below the crosses
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

void ChartLayout::mark_label(const ChartPoint& point, Point at) {
  if (point.label.empty()) return;
  const float width = sheet_.width(kLabelType, point.label), height = sheet_.height(kLabelType);
  for (const float x0 : {at.x + sheet_.px(8), at.x - sheet_.px(8) - width, at.x - width * 0.5f}) {
    for (const float lift : {0.0f, -0.8f, 0.8f, -1.2f, 1.2f}) {
      const float y0 = at.y - height * (0.5f - lift);
      const Rect box{x0, y0, x0 + width, y0 + height};
      if (!box.inside(plot_) || !is_free(box) || crosses_reference(box)) continue;
      taken_.push_back(box);
      sheet_.text(Layer::kLabels, kLabelType, palette_.text2, point.label, x0, y0);
      return;
    }
  }
}

bool ChartLayout::crosses_reference(const Rect& box) const {
  for (const lessons::ChartReference& reference : chart_.references)
    for (std::size_t i = 1; i < reference.x.size(); ++i) {
      const Point a{x_px(reference.x[i - 1]), y_px(reference.y[i - 1])}, b{x_px(reference.x[i]), y_px(reference.y[i])};
      const float from = std::max(box.x0, a.x), to = std::min(box.x1, b.x);
      if (from >= to) continue;
      const auto y_at = [&](float x) { return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x); };
      const auto [low, high] = std::minmax({y_at(from), y_at(to)});
      if (low < box.y1 && high > box.y0) return true;
    }
  return false;
}

}  // namespace headroom::app::paint
