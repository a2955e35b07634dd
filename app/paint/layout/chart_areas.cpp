// Stacked areas, one column per pixel as in a timeline, so that kinds of memory keep their hatches.
#include <algorithm>

#include "app/paint/layout/chart_layout.h"
#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {

using lessons::ChartPoint;

namespace {

// Interpolates. x must be within the points' range.
double value_between(const std::vector<ChartPoint>& points, double x) {
  const auto after = std::find_if(points.begin() + 1, points.end() - 1, [=](const ChartPoint& p) { return p.x >= x; });
  const ChartPoint &a = *(after - 1), &b = *after;
  return b.x > a.x ? a.y + (b.y - a.y) * std::clamp((x - a.x) / (b.x - a.x), 0.0, 1.0) : a.y;
}

}  // namespace

void ChartLayout::areas() {
  for (const lessons::ChartSeries& series : chart_.series)
    if (series.over) take_marks(series);
  place_reference_labels();
  if (chart_.series.empty() || chart_.series.front().points.size() < 2) return references();
  const std::vector<ChartPoint>& places = chart_.series.front().points;
  const float from = std::max(plot_.x0, sheet_.snap(x_px(places.front().x)));
  const float to = std::min(plot_.x1, sheet_.snap(x_px(places.back().x))), width = sheet_.line_px(1);
  std::vector<Rect> below;  // the top columns, on which the next series begins
  for (float x = from; x < to; x += width) below.push_back({x, plot_.y1, std::min(x + width, to), plot_.y1});
  std::vector<double> sums(below.size(), 0);
  for (std::size_t s = 0; s < chart_.series.size(); ++s) {
    if (chart_.series[s].points.size() < 2 || chart_.series[s].over) continue;
    Polyline edge{.points = {}, .color = palette_.text2, .width = width};
    for (std::size_t i = 0; i < below.size(); ++i) {
      const double at = lessons::value_at(chart_.x, (below[i].center_x() - plot_.x0) / plot_.width());
      sums[i] += value_between(chart_.series[s].points, at);
      below[i] = {below[i].x0, sheet_.snap(y_px(sums[i])), below[i].x1, below[i].y0};
      edge.points.push_back({below[i].center_x(), below[i].y0});
    }
    const auto category = chart_.series[s].category;
    const Color color = category ? palette_.of(*category).fill : line_color(palette_, looks_[s]);
    sheet_.add(Layer::kStack,
               Columns{.category = category.value_or(record::Category::kOther), .color = color, .rects = below});
    if (category && palette_.of(*category).hatched)
      sheet_.hatch(Layer::kStack, below, palette_.of(*category).edge, kKindHatch);
    sheet_.add(Layer::kLines, std::move(edge));
  }
  references();
  const auto last = std::find_if(chart_.series.rbegin(), chart_.series.rend(), [](const auto& s) { return !s.over; });
  for (std::size_t i = 0; i < places.size(); ++i) {
    const float x = x_px(places[i].x), reach = sheet_.px(8);
    const std::string& tip = last->points[std::min(i, last->points.size() - 1)].tip;
    if (!tip.empty()) sheet_.scene().hits.push_back({{x - reach, plot_.y0, x + reach, plot_.y1}, std::nullopt, tip});
  }
  for (std::size_t s = 0; s < chart_.series.size(); ++s)
    if (chart_.series[s].over) marks_of(s);
}

}  // namespace headroom::app::paint
