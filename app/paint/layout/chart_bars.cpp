// Bars of a chart, side by side or stacked, with whiskers and numbers. Also stacked areas, drawn with one column per
// pixel as in a timeline, so that kinds of memory keep their hatches.
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

float ChartLayout::bar_pitch() const {
  const float slot = plot_.width() / static_cast<float>(chart_.x.high - chart_.x.low);
  return std::min(sheet_.px(64), slot * 0.78f / static_cast<float>(std::max<std::size_t>(1, chart_.series.size())));
}

Rect ChartLayout::bar_of(std::size_t series, const ChartPoint& point) const {
  int before = 0, there = 0;
  for (std::size_t s = 0; s < chart_.series.size(); ++s) {
    const std::vector<ChartPoint>& points = chart_.series[s].points;
    if (std::none_of(points.begin(), points.end(), [&](const auto& other) { return other.x == point.x; })) continue;
    before += s < series;
    ++there;
  }
  const float bar = bar_pitch(), from = static_cast<float>(before) - static_cast<float>(there) * 0.5f;
  const float x0 = sheet_.snap(x_px(point.x) + from * bar + bar * 0.06f);
  const float x1 = std::max(x0 + sheet_.line_px(1), sheet_.snap(x0 + bar * 0.88f));
  return {x0, std::min(sheet_.snap(y_px(point.y)), plot_.y1 - sheet_.line_px(2)), x1, plot_.y1};
}

void ChartLayout::bars() {
  for (std::size_t s = 0; s < chart_.series.size(); ++s) {
    for (const ChartPoint& point : chart_.series[s].points) {
      bars_.push_back(bar_of(s, point));
      if (!point.label.empty()) bars_.push_back(value_box(point, bars_.back()));
    }
  }
  place_reference_labels();
  std::vector<Rect> only, said;  // the bars alone; the numbers placed so far
  for (std::size_t s = 0; s < chart_.series.size(); ++s)
    for (const ChartPoint& point : chart_.series[s].points) only.push_back(bar_of(s, point));
  for (std::size_t s = 0; s < chart_.series.size(); ++s) {
    for (const ChartPoint& point : chart_.series[s].points) {
      const Rect rect = bar_of(s, point);
      lay_out_box(sheet_, rect, looks_[s]);
      whisker(point, rect.center_x(), palette_.text);
      const Rect box = value_box(point, rect);
      const auto in_the_way = [&](const Rect& other) { return other.meets(box) && other.x0 != rect.x0; };
      const bool free = box.x0 >= plot_.x0 && box.x1 <= plot_.x1 &&
                        std::none_of(only.begin(), only.end(), in_the_way) &&
                        std::none_of(said.begin(), said.end(), in_the_way);
      if (free && value_label(point, rect, box.width(), &looks_[s]))
        said.push_back(numbers_.back().box);
      else if (!point.label.empty())
        left_out_.push_back(point.label);
      sheet_.scene().hits.push_back({{rect.x0, plot_.y0, rect.x1, plot_.y1}, std::nullopt, point.tip});
    }
  }
}

Rect ChartLayout::value_box(const ChartPoint& point, const Rect& bar) const {
  const float y = std::min(bar.y0, y_px(point.high)) - sheet_.height(kLabelType) - sheet_.px(1);
  const float half = sheet_.width(kLabelType, point.label) * 0.5f;
  const float x = kept_within(bar.center_x(), plot_.x0 + half, std::max(plot_.x0 + half, plot_.x1 - half));
  return {x - half, y, x + half, y + sheet_.height(kLabelType)};
}

void ChartLayout::stacks() {
  place_reference_labels();
  const float slot = plot_.width() / static_cast<float>(chart_.x.high - chart_.x.low);
  const float bar = std::min(sheet_.px(64), slot * 0.78f);
  for (std::size_t place = 0; place < chart_.series.front().points.size(); ++place) {
    double total = 0;
    float bottom = plot_.y1;
    const ChartPoint& last = chart_.series.back().points[place];
    const float x0 = sheet_.snap(x_px(last.x) - bar * 0.44f), x1 = sheet_.snap(x0 + bar * 0.88f);
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      total += chart_.series[s].points[place].y;
      const float top = sheet_.snap(y_px(total));
      if (bottom - top >= sheet_.line_px(1)) lay_out_box(sheet_, {x0, top, x1, bottom}, looks_[s]);
      if (bottom - top > 3 * sheet_.line_px(1) && s + 1 < chart_.series.size())
        sheet_.horizontal(Layer::kBars, x0, x1, top, palette_.well, sheet_.line_px(1));
      bottom = top;
    }
    const Rect rect{x0, bottom, x1, plot_.y1};
    if (last.out_of_memory) {
      failed_label(rect, slot);
    } else {
      ChartPoint whole = last;
      whole.high = total;
      if (!value_label(whole, rect, slot, nullptr) && !whole.label.empty()) left_out_.push_back(whole.label);
    }
    sheet_.scene().hits.push_back({{x0, plot_.y0, x1, plot_.y1}, std::nullopt, last.tip});
  }
}

void ChartLayout::areas() {
  for (const lessons::ChartSeries& series : chart_.series)
    if (series.over) take_marks(series);
  place_reference_labels();
  if (chart_.series.empty() || chart_.series.front().points.size() < 2) return references();
  const std::vector<ChartPoint>& places = chart_.series.front().points;
  const float from = std::max(plot_.x0, sheet_.snap(x_px(places.front().x)));
  const float to = std::min(plot_.x1, sheet_.snap(x_px(places.back().x))), width = sheet_.line_px(1);
  std::vector<Rect> below;  // the previous series' columns, on which the next begins
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

void ChartLayout::failed_label(const Rect& bar, float room) {
  const Rect above{bar.x0, plot_.y0, bar.x1, bar.y0};
  sheet_.danger(Layer::kBars, above);
  if (plot_.height() < 4 * sheet_.height(kStrongType)) return;
  const std::string word = sheet_.width(kStrongType, "out of memory") < room ? "out of memory" : "OOM";
  const float middle = std::max(plot_.y0 + sheet_.height(kStrongType), (above.y0 + above.y1) * 0.5f);
  const float half = sheet_.width(kStrongType, word) * 0.5f + sheet_.px(3), line = sheet_.height(kStrongType) * 0.5f;
  sheet_.fill(Layer::kLabels, {bar.center_x() - half, middle - line, bar.center_x() + half, middle + line},
              palette_.well, sheet_.px(3));
  sheet_.text_mid(Layer::kLabels, kStrongType, palette_.danger, word, bar.center_x(), middle, Anchor::kMiddle);
}

bool ChartLayout::value_label(const ChartPoint& point, const Rect& bar, float room, const Look* look) {
  if (point.label.empty() || sheet_.width(kLabelType, point.label) > room + sheet_.px(2)) return false;
  const Rect over = value_box(point, bar);
  const float height = over.height(), air = sheet_.px(2);
  std::vector<Rect> places{over};
  if (room > bar.width() + 2 * (over.width() + 3 * air))  // next to the bar, if there is room
    places.push_back({bar.x1 + 3 * air, bar.y0, bar.x1 + 3 * air + over.width(), bar.y0 + height});
  for (const auto& line : lines_)  // goes above any line that would cross the number
    if (!line.empty() && line.back().y > over.y0 - height && line.back().y < over.y1)
      places.push_back({over.x0, line.back().y - height - air, over.x1, line.back().y - air});
  for (const Rect& box : places) {
    // The highest number may reach into the head, like the highest tick label.
    if (box.y0 < plot_.y0 - height * 0.5f || !is_free(box) || crosses_line(box)) continue;
    numbers_.push_back({box, point.label, false, palette_.text2});
    return true;
  }
  const Rect inside{over.x0, bar.y0 + air, over.x1, bar.y0 + air + height};
  const bool solid = look != nullptr && !look->published && look->turn == 0 && !look->category &&
                     look->kind == lessons::SeriesKind::kFused;
  if (!solid || inside.width() > bar.width() || inside.y1 > bar.y1 || crosses_line(inside)) return false;
  numbers_.push_back({inside, point.label, true, palette_.on_ink});
  return true;
}

void ChartLayout::draw_numbers() {
  for (const Number& number : numbers_)
    sheet_.text(Layer::kLabels, kLabelType, number.color, number.text, number.box.center_x(), number.box.y0,
                Anchor::kMiddle);
}

bool ChartLayout::meets_bar(const Rect& box) const {
  return std::any_of(bars_.begin(), bars_.end(), [&](const Rect& bar) { return bar.meets(box); });
}

void ChartLayout::whisker(const ChartPoint& point, float x, Color color) {
  const float top = y_px(point.high), bottom = y_px(point.low), width = sheet_.line_px(1.5f), cap = sheet_.px(4);
  if (bottom - top < 2 * width) return;
  const auto stroke = [&](Point from, Point to) { sheet_.line(Layer::kMarks, {from, to}, color, width); };
  stroke({x, top}, {x, bottom});
  stroke({x - cap, top}, {x + cap, top});
  stroke({x - cap, bottom}, {x + cap, bottom});
}

}  // namespace headroom::app::paint
