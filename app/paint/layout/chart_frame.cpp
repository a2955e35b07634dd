// The frame of a chart: background, axes, references, and names of categories.
#include <algorithm>
#include <cmath>
#include <vector>

#include "app/paint/layout/chart_layout.h"
#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {

using lessons::Chart;

bool names_ends(const Sheet& sheet, float width) { return width >= sheet.px(400); }

ChartLayout::ChartLayout(Sheet& sheet, const Chart& chart, const Chart& whole, Rect area, std::optional<double> guess,
                         float left)
    : sheet_(sheet), palette_(sheet.palette()), chart_(chart), guess_(guess), area_(area) {
  looks_ = looks_of(chart);
  const float line = sheet.snap(sheet.height(kLabelType));
  const float head = sheet.snap(line * 1.5f + sheet.px(2));  // the highest tick label reaches into the head
  float widest = 0;
  for (const std::string& name : whole.categories) widest = std::max(widest, sheet.width(kLabelType, name));
  head_ = {area.x0, area.y0, area.x1, area.y0 + head};
  named_ = !whole.x.name.empty() && area.height() > sheet.px(kLeastNamed);
  const float named = named_ ? line + sheet.px(2) : 0;
  const auto fit = [&](float lines) {
    const float below = line * lines + sheet.px(6) + named;
    plot_ = {area.x0, area.y0 + head, area.x1, std::max(area.y0 + head + 1, area.y1 - below)};
    const int most = std::max(2, static_cast<int>(plot_.height() / sheet.px(34)));
    y_ = chart_ticks(chart.y, most);
    float labels = sheet.width(kLabelType, "0.00");  // plots of most ranges begin at the same x
    for (const Tick& tick : chart_ticks(whole.y, most).ticks)
      labels = std::max(labels, sheet.width(kLabelType, tick.label));
    for (const Tick& tick : y_.ticks) labels = std::max(labels, sheet.width(kLabelType, tick.label));
    plot_.x0 = std::max(left, sheet.snap(plot_.x0 + labels + sheet.px(8)));
    plot_ = {plot_.x0, sheet.snap(plot_.y0), std::max(sheet.snap(plot_.x1), plot_.x0 + 1), sheet.snap(plot_.y1)};
  };
  fit(1);
  const float slot = plot_.width() / static_cast<float>(std::max<std::size_t>(1, whole.categories.size()));
  staggered_ = widest + sheet.px(8) > slot && whole.categories.size() > 1;
  if (staggered_) fit(2);
}

void ChartLayout::draw() {
  ground();
  find_lines();
  limit_zones();
  if (chart_.bars || !chart_.stacked) references();  // areas() draws them later, on top
  if (chart_.stacked && chart_.bars)
    stacks();
  else if (chart_.stacked)
    areas();
  else if (chart_.bars)
    bars();
  else
    marks();
  draw_reference_labels();
  x_labels();
  head();
}

float ChartLayout::x_px(double value) const {
  return plot_.x0 + static_cast<float>(lessons::part_of(chart_.x, value)) * plot_.width();
}

float ChartLayout::y_px(double value) const {
  const auto part = static_cast<float>(std::clamp(part_of(chart_.y, value), 0.0, 1.0));
  return plot_.y1 - part * plot_.height();
}

// In lines of text, the least height of a plot that names its spans.
constexpr float kSpanNames = 7;

void ChartLayout::ground() {
  sheet_.fill(Layer::kGround, plot_, palette_.well);
  for (const lessons::ChartSpan& span : chart_.spans) {
    const Rect band{sheet_.snap(x_px(span.low)), plot_.y0, sheet_.snap(x_px(span.high)), plot_.y1};
    const auto tone = static_cast<std::size_t>(std::clamp(span.tone, 0, 3));
    if (span.tone > 0) sheet_.fill(Layer::kGround, band, palette_.phase[tone]);
    const bool room = plot_.height() >= kSpanNames * sheet_.height(kLabelType);
    if (room && sheet_.width(kLabelType, span.label) + sheet_.px(8) < band.width()) {
      const Rect box = sheet_.text(Layer::kLabels, kLabelType, palette_.text, span.label, band.center_x(),
                                   plot_.y0 + sheet_.px(3), Anchor::kMiddle);
      taken_.push_back(box);
    } else if (!span.label.empty()) {
      left_out_.push_back(span.label);
    }
  }
  const float height = sheet_.height(kLabelType);
  // If only one label fits, the highest is shown, because a lone 0 shows no scale.
  const bool low = y_.ticks.size() > 1 && y_px(y_.ticks.front().value) - y_px(y_.ticks.back().value) < height;
  float last = HUGE_VALF;  // y of the last label
  for (const Tick& tick : y_.ticks) {
    const float y = y_px(tick.value);
    if (y < plot_.y1 - 1)
      sheet_.horizontal(Layer::kGround, plot_.x0, plot_.x1, sheet_.snap(y), palette_.grid, sheet_.line_px(1));
    if (last - y < height || (low && &tick != &y_.ticks.back())) continue;
    sheet_.text_mid(Layer::kAxes, kLabelType, palette_.text3, tick.label, plot_.x0 - sheet_.px(6), y, Anchor::kEnd);
    last = y;
  }
  sheet_.horizontal(Layer::kAxes, plot_.x0, plot_.x1, plot_.y1, palette_.control, sheet_.line_px(1));
}

void ChartLayout::head() {
  if (!chart_.x.name.empty() && !named_) left_out_.push_back(chart_.x.name);
  float x = head_.x0, end = head_.x1;
  const float gap = sheet_.px(8), of_unit = y_.unit.empty() ? 0 : sheet_.width(kLabelType, y_.unit) + gap;
  const float height = sheet_.height(kLabelType);
  // The right end of a mark; the highest label of a reference may reach into the head.
  const auto end_of_mark = [&](std::size_t count) {
    const float width = more_width(sheet_, "label", count);
    float right = head_.x1;
    for (const Label& label : reference_labels_)
      if (label.box.meets({right - width - gap, head_.y0, right + gap, head_.y0 + height})) right = label.box.x0 - gap;
    return right;
  };
  const std::size_t most = left_out_.size() + 2;
  const float with_mark = end_of_mark(most) - more_width(sheet_, "label", most) - gap;
  const bool titled =
      !chart_.title.empty() && !sheet_.shortened(kStrongType, chart_.title, with_mark - x - of_unit).empty();
  if (!titled && !chart_.title.empty()) left_out_.push_back(chart_.title);
  const std::string named = joined(chart_.y.name, ", ", std::string(y_.unit));
  const float title = titled ? sheet_.width(kStrongType, chart_.title) + gap : 0;
  const bool whole = x + title + sheet_.width(kLabelType, named) <= (left_out_.empty() ? end : with_mark);
  if (!whole && !chart_.y.name.empty()) left_out_.push_back(chart_.y.name);
  if (!left_out_.empty())
    end = lay_out_more(sheet_, Layer::kAxes, {"label", left_out_}, end_of_mark(left_out_.size()),
                       head_.y0 + height * 0.5f, Anchor::kEnd)
              .x0 -
          gap;
  if (titled)
    x = sheet_
            .text_cut(Layer::kAxes, kStrongType, palette_.text, chart_.title, x,
                      head_.y0 + sheet_.height(kStrongType) * 0.5f, end - x - of_unit)
            .x1 +
        gap;
  const std::string unit = whole ? named : y_.unit;
  if (!unit.empty())
    sheet_.text_cut(Layer::kAxes, kLabelType, palette_.text3, unit, x, head_.y0 + height * 0.5f, end - x);
}

void ChartLayout::find_lines() {
  for (const lessons::ChartReference& reference : chart_.references) {
    lines_.emplace_back();
    for (std::size_t i = 0; i < reference.x.size(); ++i)
      lines_.back().push_back({x_px(reference.x[i]), y_px(reference.y[i])});
  }
  if (guess_) lines_.push_back({{plot_.x0, y_px(*guess_)}, {plot_.x1, y_px(*guess_)}});
  if (chart_.stacked && !chart_.bars) return find_edges();
  if (chart_.bars || !chart_.joined) return;
  for (const lessons::ChartSeries& series : chart_.series) {
    lines_.emplace_back();
    for (const lessons::ChartPoint& point : series.points)
      if (!point.out_of_memory) lines_.back().push_back({x_px(point.x), y_px(point.y)});
  }
}

// Upper edges of areas, and the lines over them.
void ChartLayout::find_edges() {
  std::vector<double> sums;
  for (const lessons::ChartSeries& series : chart_.series) {
    lines_.emplace_back();
    if (!series.over) sums.resize(std::max(sums.size(), series.points.size()), 0);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const lessons::ChartPoint& point = series.points[i];
      if (!series.over) sums[i] += point.y;
      lines_.back().push_back({x_px(point.x), y_px(series.over ? point.y : sums[i])});
    }
  }
}

void ChartLayout::limit_zones() {
  for (const lessons::ChartReference& reference : chart_.references)
    if (reference.limit && reference.y.back() < chart_.y.high)
      sheet_.danger(Layer::kGround, {plot_.x0, plot_.y0, plot_.x1, sheet_.snap(y_px(reference.y.back()))});
}

void ChartLayout::references() {
  for (const lessons::ChartReference& reference : chart_.references) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < reference.x.size(); ++i) points.push_back({x_px(reference.x[i]), y_px(reference.y[i])});
    if (reference.limit)
      sheet_.line(Layer::kLines, std::move(points), palette_.danger, sheet_.line_px(2));
    else
      sheet_.line(Layer::kLines, std::move(points), palette_.text, sheet_.line_px(1), {sheet_.px(6), sheet_.px(4)});
  }
}

void ChartLayout::place_reference_labels() {
  const float pad = sheet_.px(4), height = sheet_.height(kMediumType);
  for (const lessons::ChartReference& reference : chart_.references) {
    const float width = sheet_.width(kMediumType, reference.label);
    const float left = x_px(reference.x.front()), right = x_px(reference.x.back()), line = y_px(reference.y.back());
    if (reference.label.empty()) continue;
    if (width + 2 * pad > plot_.width()) {
      left_out_.push_back(reference.label);
      continue;
    }
    const auto box_at = [&](float x, float y) { return Rect{x, y, x + width, y + height}; };
    const float above = line - height - sheet_.px(2), below = line + sheet_.px(2);
    std::vector<Rect> places;
    for (const float x : {right - pad - width, left + pad})
      for (const float y : {std::max(plot_.y0, above), below}) places.push_back(box_at(x, y));
    const bool level = reference.y.front() == reference.y.back();
    for (const float y : {above, below})
      for (const float share : {0.8f, 0.6f, 0.4f, 0.2f})
        if (level) places.push_back(box_at(left + (right - left - width) * share, y));
    for (std::size_t i = reference.x.size(); i-- > 0 && !level;)
      for (const Rect& box : around({x_px(reference.x[i]), y_px(reference.y[i])}, width, height)) places.push_back(box);
    if (!level || line - plot_.y0 < 2 * height)  // elsewhere it would seem to name another line
      for (const float x : {plot_.x1 - pad - width, left + pad}) places.push_back(box_at(x, plot_.y0));
    const auto fits = [&](const Rect& box) {
      return box.x0 >= plot_.x0 && box.x1 <= plot_.x1 && box.y0 >= plot_.y0 - height && box.y1 <= plot_.y1 &&
             is_free(box) && !meets_bar(box) && !crosses_line(box);
    };
    const auto place = std::find_if(places.begin(), places.end(), fits);
    if (place == places.end()) {
      left_out_.push_back(reference.label);
      continue;
    }
    reference_labels_.push_back({*place, reference.label, reference.limit ? palette_.danger : palette_.text});
    taken_.push_back(*place);
    texts_.push_back(*place);
  }
}

bool ChartLayout::is_free(const Rect& box) const {
  return std::ranges::none_of(taken_, [&](const Rect& other) { return other.meets(box); });
}

void ChartLayout::draw_reference_labels() {
  const float pad = sheet_.px(3);
  for (const auto& [box, label, color] : reference_labels_) {
    sheet_.fill(Layer::kLabels, {box.x0 - pad, box.y0, box.x1 + pad, box.y1}, palette_.well, pad);
    sheet_.text(Layer::kLabels, kMediumType, color, label, box.x0, box.y0);
  }
}

void ChartLayout::x_labels() {
  const float top = plot_.y1 + sheet_.px(4);
  if (chart_.x.unit == lessons::AxisUnit::kCategory) {
    category_labels(top);
  } else {
    const ChartTicks x = chart_ticks(chart_.x, std::max(1, static_cast<int>(plot_.width() / sheet_.px(70))));
    for (const Tick& tick : x.ticks) {
      const float half = sheet_.width(kLabelType, tick.label) * 0.5f;
      sheet_.text(Layer::kAxes, kLabelType, palette_.text3, tick.label, std::min(x_px(tick.value), plot_.x1 - half),
                  top, Anchor::kMiddle);
    }
  }
  if (named_ && !chart_.x.name.empty())
    sheet_.text_cut(Layer::kAxes, kLabelType, palette_.text2, chart_.x.name, plot_.center_x(),
                    top + sheet_.height(kLabelType) * (staggered_ ? 2.5f : 1.5f) + sheet_.px(1), plot_.width(),
                    Anchor::kMiddle);
}

void ChartLayout::category_labels(float top) {
  const float slot = plot_.width() / static_cast<float>(chart_.x.high - chart_.x.low), gap = sheet_.px(6);
  const std::size_t turn = staggered_ ? 2 : 1, count = chart_.categories.size();
  const auto half = [&](const std::string& name) { return sheet_.width(kLabelType, name) * 0.5f; };
  const auto middle = [&](std::size_t i, const std::string& name) {
    return std::max(std::min(x_px(static_cast<double>(i)), plot_.x1 - half(name)), plot_.x0 + half(name));
  };
  const auto meet = [&](std::size_t i, std::size_t j) {
    const std::string &a = chart_.categories[i], &b = chart_.categories[j];
    return middle(j, b) - middle(i, a) < half(a) + half(b) + gap;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const bool tight = (i >= turn && meet(i - turn, i)) || (i + turn < count && meet(i, i + turn));
    const bool at_end = i == 0 || i + 1 == count;  // has room on one side only
    const float room = tight ? slot * (at_end && staggered_ ? 1.5f : static_cast<float>(turn)) - gap : plot_.width();
    const std::string name = sheet_.shortened(kLabelType, chart_.categories[i], room);
    if (name.empty()) {
      left_out_.push_back(chart_.categories[i]);
      continue;
    }
    const Rect box = sheet_.text(Layer::kAxes, kLabelType, palette_.text3, name, middle(i, name),
                                 top + (i % turn == 1 ? sheet_.height(kLabelType) : 0.0f), Anchor::kMiddle);
    if (name != chart_.categories[i]) sheet_.scene().hits.push_back({box, std::nullopt, chart_.categories[i]});
  }
}

}  // namespace headroom::app::paint
