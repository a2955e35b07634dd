// Charts: series as bars or marks over named places or a number, with whiskers, references and a legend; several stand
// side by side. Ink is the fused form, grey what it is compared with: colour belongs to memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "app/paint/plot_parts.h"
#include "app/paint/sheet.h"
#include "app/paint/ticks.h"

namespace headroom::app::paint {
namespace {

using lessons::Chart;
using lessons::ChartPoint;
using lessons::ChartSeries;
using lessons::SeriesKind;

constexpr HatchRule kWideHatch{5, 1.4f, 1};

// What a series looks like. `turn` tells series of one kind apart: 0 the first, 1 the second, …
struct Look {
  SeriesKind kind = SeriesKind::kOther;
  bool ghost = false;
  int turn = 0;
  std::optional<record::Category> category = {};
};

std::vector<Look> looks_of(const Chart& chart) {
  std::vector<Look> looks;
  for (const ChartSeries& series : chart.series) {
    Look look{series.kind, series.ghost, 0, series.category};
    for (const Look& other : looks) look.turn += other.kind == look.kind && other.ghost == look.ghost;
    looks.push_back(look);
  }
  return looks;
}

Color line_color(const Palette& palette, const Look& look) {
  if (look.ghost) return palette.text3;
  if (look.kind == SeriesKind::kFused) return palette.ink;
  return look.kind == SeriesKind::kEager ? palette.control : palette.text2;
}

// A bar, or a legend's sample of one.
void lay_out_box(Sheet& sheet, const Rect& rect, const Look& look) {
  if (look.category) return lay_out_kind(sheet, rect, *look.category);
  const Palette& palette = sheet.palette();
  const float width = sheet.line_px(1), half = width * 0.5f;
  const Color color = line_color(palette, look);
  const bool solid = !look.ghost && look.turn == 0;
  if (solid && look.kind == SeriesKind::kFused) return sheet.fill(Layer::kBars, rect, palette.ink);
  if (solid && look.kind == SeriesKind::kEager) sheet.fill(Layer::kBars, rect, palette.phase[3]);
  if (solid && look.kind == SeriesKind::kOther) return sheet.fill(Layer::kBars, rect, palette.text3);
  if (look.turn == 1) sheet.hatch(Layer::kBars, {rect}, color, kWideHatch);
  if (look.kind == SeriesKind::kLibrary && !look.ghost) sheet.hatch(Layer::kBars, {rect}, color, {9, 1, 0.8f});
  if (rect.width() <= 2 * width || rect.height() <= 2 * width) return sheet.fill(Layer::kBars, rect, color);
  const float dash = look.ghost ? sheet.px(3) : 0;
  sheet.add(Layer::kBars, Outline{.rect = {rect.x0 + half, rect.y0 + half, rect.x1 - half, rect.y1 - half},
                                  .color = color,
                                  .width = width,
                                  .radius = 0,
                                  .dash = dash,
                                  .gap = dash});
}

// A mark, or a legend's sample of one. Filled: measured here; hollow: published elsewhere.
void lay_out_mark(Sheet& sheet, Point at, const Look& look) {
  const Palette& palette = sheet.palette();
  const Color color = line_color(palette, look);
  const float radius = sheet.frame().scale * 4, width = sheet.line_px(1.5f);
  const Color fill = look.ghost || look.turn > 0 ? palette.well : color;
  if (look.kind == SeriesKind::kFused) {
    sheet.add(Layer::kMarks,
              Disc{.center = at, .radius = radius, .fill = fill, .stroke = color, .stroke_width = width});
    return;
  }
  const float half = look.kind == SeriesKind::kLibrary ? radius * 0.6f : radius * 0.9f;
  const Rect rect{at.x - half, at.y - half, at.x + half, at.y + half};
  sheet.fill(Layer::kMarks, rect, fill);
  sheet.add(Layer::kMarks, Outline{.rect = rect, .color = color, .width = width});
}

void lay_out_line(Sheet& sheet, std::vector<Point> points, const Look& look) {
  const bool fused = look.kind == SeriesKind::kFused && !look.ghost;
  const float dash = look.ghost ? 3.0f : look.kind == SeriesKind::kLibrary ? 5.0f : look.turn > 0 ? 8.0f : 0.0f;
  sheet.add(Layer::kLines, Polyline{.points = std::move(points),
                                    .color = line_color(sheet.palette(), look),
                                    .width = sheet.line_px(fused        ? 2
                                                           : look.ghost ? 1
                                                                        : 1.5f),
                                    .dash = sheet.px(dash),
                                    .gap = sheet.px(dash * 0.7f)});
}

class ChartLayout {
 public:
  // `guess`: where the reader's line will run.
  ChartLayout(Sheet& sheet, const Chart& chart, Rect area, std::optional<double> guess)
      : sheet_(sheet), palette_(sheet.palette()), chart_(chart), guess_(guess) {
    looks_ = looks_of(chart);
    const float line = sheet.snap(sheet.height(kLabelType));
    const float head = sheet.snap(line * 1.5f + sheet.px(2));  // the label of the highest tick reaches into it
    float widest = 0;
    for (const std::string& name : chart.categories) widest = std::max(widest, sheet.width(kLabelType, name));
    head_ = {area.x0, area.y0, area.x1, area.y0 + head};
    named_ = !chart.x.name.empty() && area.height() > sheet.px(kLeastNamed);
    const float named = named_ ? line + sheet.px(2) : 0;
    const auto fit = [&](float lines) {
      const float below = line * lines + sheet.px(6) + named;
      plot_ = {area.x0, area.y0 + head, area.x1, std::max(area.y0 + head + 1, area.y1 - below)};
      y_ = chart_ticks(chart.y, std::max(2, static_cast<int>(plot_.height() / sheet.px(34))));
      float labels = 0;
      for (const Tick& tick : y_.ticks) labels = std::max(labels, sheet.width(kLabelType, tick.label));
      plot_.x0 = sheet.snap(plot_.x0 + labels + sheet.px(8));
      plot_ = {plot_.x0, sheet.snap(plot_.y0), std::max(sheet.snap(plot_.x1), plot_.x0 + 1), sheet.snap(plot_.y1)};
    };
    fit(1);
    const float slot = plot_.width() / static_cast<float>(std::max<std::size_t>(1, chart.categories.size()));
    staggered_ = widest + sheet.px(8) > slot && chart.categories.size() > 1;
    if (staggered_) fit(2);
  }

  const Rect& plot() const { return plot_; }
  // Whether nothing that was drawn stands there: bars, marks and numbers.
  bool is_clear(const Rect& box) const { return is_free(box) && !meets_bar(box); }

  void draw() {
    ground();
    references();
    if (chart_.stacked)
      stacks();
    else if (chart_.bars)
      bars();
    else
      marks();
    draw_reference_labels();
    head();
    x_labels();
  }

  // The numbers over bars, in front of lines that are drawn over the chart.
  void draw_numbers() {
    for (const Number& number : numbers_) {
      if (number.struck) sheet_.fill(Layer::kLabels, number.box, palette_.well);
      sheet_.text(Layer::kLabels, kLabelType, palette_.text2, number.text, number.box.center_x(), number.box.y0,
                  Anchor::kMiddle);
    }
  }

 private:
  float x_px(double value) const {
    return plot_.x0 + static_cast<float>(lessons::part_of(chart_.x, value)) * plot_.width();
  }
  float y_px(double value) const {
    const auto part = static_cast<float>(std::clamp(part_of(chart_.y, value), 0.0, 1.0));
    return plot_.y1 - part * plot_.height();
  }

  void ground() {
    sheet_.fill(Layer::kGround, plot_, palette_.well);
    for (const lessons::ChartSpan& span : chart_.spans) {
      const Rect band{sheet_.snap(x_px(span.low)), plot_.y0, sheet_.snap(x_px(span.high)), plot_.y1};
      const auto tone = static_cast<std::size_t>(std::clamp(span.tone, 0, 3));
      if (span.tone > 0) sheet_.fill(Layer::kGround, band, palette_.phase[tone]);
      if (sheet_.width(kLabelType, span.label) + sheet_.px(8) < band.width()) {
        const Rect box = sheet_.text(Layer::kLabels, kLabelType, palette_.text, span.label, band.center_x(),
                                     plot_.y0 + sheet_.px(3), Anchor::kMiddle);
        taken_.push_back(box);
      }
    }
    const float height = sheet_.height(kLabelType);
    // One number makes no scale, least of all 0: where there is room for one only, it is the highest.
    const bool low = y_.ticks.size() > 1 && y_px(y_.ticks.front().value) - y_px(y_.ticks.back().value) < height;
    float last = HUGE_VALF;  // where a label stands already
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

  // The title, and the unit of the y axis behind it.
  void head() {
    float x = head_.x0;
    if (!chart_.title.empty()) {
      const Rect title = sheet_.text(Layer::kAxes, kStrongType, palette_.text,
                                     sheet_.shortened(kStrongType, chart_.title, head_.width()), x, head_.y0);
      x = title.x1 + sheet_.px(8);
    }
    std::string unit = y_.unit;
    if (!chart_.y.name.empty()) unit = chart_.y.name + (unit.empty() ? "" : ", ") + unit;
    if (x + sheet_.width(kLabelType, unit) > head_.x1) unit = y_.unit;
    if (x + sheet_.width(kLabelType, unit) <= head_.x1)
      sheet_.text(Layer::kAxes, kLabelType, palette_.text3, unit, x, head_.y0);
  }

  void references() {
    for (const lessons::ChartReference& reference : chart_.references) {
      Polyline line{
          .points = {}, .color = palette_.text, .width = sheet_.line_px(1), .dash = sheet_.px(6), .gap = sheet_.px(4)};
      for (std::size_t i = 0; i < reference.x.size(); ++i)
        line.points.push_back({x_px(reference.x[i]), y_px(reference.y[i])});
      sheet_.add(Layer::kLines, std::move(line));
    }
  }

  // At its line's right end, above or below, or at its left end, else at the plot's upper edge: the first place without a
  // mark or a bar.
  void place_reference_labels() {
    const float pad = sheet_.px(4), height = sheet_.height(kMediumType);
    for (const lessons::ChartReference& reference : chart_.references) {
      const float width = sheet_.width(kMediumType, reference.label);
      const float left = x_px(reference.x.front()), right = x_px(reference.x.back()), line = y_px(reference.y.back());
      if (reference.label.empty() || right - pad - width < left) continue;
      const float above = std::max(plot_.y0, line - height - sheet_.px(2)), below = line + sheet_.px(2);
      const std::array places{
          Point{right - pad - width, above}, Point{right - pad - width, below},       Point{left + pad, above},
          Point{left + pad, below},          Point{plot_.x1 - pad - width, plot_.y0}, Point{left + pad, plot_.y0}};
      const auto box_at = [&](Point at) { return Rect{at.x, at.y, at.x + width, at.y + height}; };
      const auto fits = [&](Point at) { return is_free(box_at(at)) && !meets_bar(box_at(at)); };
      const auto place = std::find_if(places.begin(), places.end(), fits);
      if (place == places.end() && !chart_.bars) continue;  // on a mark it could not be read; over bars it can
      const Rect box = box_at(place == places.end() ? places.front() : *place);
      reference_labels_.push_back({box, reference.label});
      taken_.push_back(box);
    }
  }

  bool is_free(const Rect& box) const {
    return std::none_of(taken_.begin(), taken_.end(), [&](const Rect& other) {
      return box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1;
    });
  }

  // A bar, or the number over it.
  bool meets_bar(const Rect& box) const {
    return std::any_of(bars_.begin(), bars_.end(), [&](const Rect& bar) { return bar.meets(box); });
  }

  // Over the bars, on a patch of the ground.
  void draw_reference_labels() {
    const float pad = sheet_.px(3);
    for (const auto& [box, label] : reference_labels_) {
      sheet_.fill(Layer::kLabels, {box.x0 - pad, box.y0, box.x1 + pad, box.y1}, palette_.well, pad);
      sheet_.text(Layer::kLabels, kMediumType, palette_.text, label, box.x0, box.y0);
    }
  }

  void whisker(const ChartPoint& point, float x, Color color) {
    const float top = y_px(point.high), bottom = y_px(point.low), width = sheet_.line_px(1.5f), cap = sheet_.px(4);
    if (bottom - top < 2 * width) return;
    const auto stroke = [&](Point from, Point to) {
      sheet_.add(Layer::kMarks, Polyline{.points = {from, to}, .color = color, .width = width});
    };
    stroke({x, top}, {x, bottom});
    stroke({x - cap, top}, {x + cap, top});
    stroke({x - cap, bottom}, {x + cap, bottom});
  }

  // Width of a bar with its gap: the series of a place stand side by side.
  float bar_pitch() const {
    const float slot = plot_.width() / static_cast<float>(chart_.x.high - chart_.x.low);
    return std::min(sheet_.px(64), slot * 0.78f / static_cast<float>(std::max<std::size_t>(1, chart_.series.size())));
  }

  // The bars of a place stand around its middle, those that it lacks leave no gap.
  Rect bar_of(std::size_t series, const ChartPoint& point) const {
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

  void bars() {
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      for (const ChartPoint& point : chart_.series[s].points) {
        bars_.push_back(bar_of(s, point));
        if (!point.label.empty()) bars_.push_back(value_box(point, bars_.back()));
      }
    }
    place_reference_labels();
    std::vector<Rect> only, said;  // bars without their numbers; numbers that stand
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
        if (free && value_label(point, rect, box.width())) said.push_back(box);
        sheet_.scene().hits.push_back({{rect.x0, plot_.y0, rect.x1, plot_.y1}, std::nullopt, point.tip});
      }
    }
  }

  // The number over a bar.
  Rect value_box(const ChartPoint& point, const Rect& bar) const {
    const float y = std::min(bar.y0, y_px(point.high)) - sheet_.height(kLabelType) - sheet_.px(1);
    const float half = sheet_.width(kLabelType, point.label) * 0.5f;
    return {bar.center_x() - half, y, bar.center_x() + half, y + sheet_.height(kLabelType)};
  }

  // One bar a place: its series on each other, a line of ground between two.
  void stacks() {
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
        (void)value_label(whole, rect, slot);
      }
      sheet_.scene().hits.push_back({{x0, plot_.y0, x1, plot_.y1}, std::nullopt, last.tip});
    }
  }

  // Over a bar that goes no further because memory ran out.
  void failed_label(const Rect& bar, float room) {
    const Rect above{bar.x0, plot_.y0, bar.x1, bar.y0};
    sheet_.fill(Layer::kBars, above, faded(palette_.danger, palette_.danger_ground));
    sheet_.hatch(Layer::kBars, {above}, faded(palette_.danger, palette_.danger_hatch), kDangerHatch);
    if (plot_.height() < 4 * sheet_.height(kStrongType)) return;
    const std::string word = sheet_.width(kStrongType, "out of memory") < room ? "out of memory" : "OOM";
    const float middle = std::max(plot_.y0 + sheet_.height(kStrongType), (above.y0 + above.y1) * 0.5f);
    const float half = sheet_.width(kStrongType, word) * 0.5f + sheet_.px(3), line = sheet_.height(kStrongType) * 0.5f;
    sheet_.fill(Layer::kLabels, {bar.center_x() - half, middle - line, bar.center_x() + half, middle + line},
                palette_.well, sheet_.px(3));
    sheet_.text_mid(Layer::kLabels, kStrongType, palette_.danger, word, bar.center_x(), middle, Anchor::kMiddle);
  }

  // False: there is none, or no room for it.
  bool value_label(const ChartPoint& point, const Rect& bar, float room) {
    if (point.label.empty() || sheet_.width(kLabelType, point.label) > room + sheet_.px(2)) return false;
    const Rect box = value_box(point, bar);
    // The highest bar's number reaches into the head, as the highest tick's does.
    if (box.y0 < plot_.y0 - sheet_.height(kLabelType) * 0.5f || !is_free(box)) return false;
    const auto strikes = [&](float line) { return box.y0 < line && line < box.y1; };
    bool struck = guess_ && strikes(y_px(*guess_));
    for (const lessons::ChartReference& reference : chart_.references)
      struck = struck || (!reference.y.empty() && strikes(y_px(reference.y.back())));
    numbers_.push_back({box, point.label, struck});
    return true;
  }

  void marks() {
    const float r = sheet_.px(5);
    for (const ChartSeries& series : chart_.series)  // labels keep off every mark
      for (const ChartPoint& point : series.points) {
        if (point.out_of_memory) continue;
        const float x = x_px(point.x), y = y_px(point.y);
        taken_.push_back({x - r, y - r, x + r, y + r});
      }
    failures();
    place_reference_labels();
    for (const bool ghosts : {true, false}) {  // what was published lies behind
      for (std::size_t s = 0; s < chart_.series.size(); ++s) {
        if (chart_.series[s].ghost != ghosts) continue;
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

  // What ran out of memory: a cross a point, a row a series, under the top edge.
  void failures() {
    const float r = sheet_.px(6), width = sheet_.line_px(1.5f), line = sheet_.snap(sheet_.px(16));
    float y = plot_.y0 + line * 0.6f;
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
      y += line;
    }
  }

  // The word for a row of crosses, before the first of them or behind the last. False: there is no room.
  bool say_failed(float before, float behind, float middle) {
    const std::string words = "out of memory";
    const float width = sheet_.width(kLabelType, words), half = sheet_.height(kLabelType) * 0.5f;
    const bool fits_before = before - width > plot_.x0;
    if (!fits_before && behind + width > plot_.x1) return false;
    const float x0 = fits_before ? before - width : behind;
    const Rect box{x0, middle - half, x0 + width, middle + half};
    sheet_.fill(Layer::kLabels, box, palette_.well);
    sheet_.text_mid(Layer::kLabels, kLabelType, palette_.danger, words, x0, middle);
    taken_.push_back(box);
    return true;
  }

  // Right of its mark, else left of it, above or below, where no other label stands and no line runs.
  void mark_label(const ChartPoint& point, Point at) {
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

  // A reference's line runs through the box.
  bool crosses_reference(const Rect& box) const {
    for (const lessons::ChartReference& reference : chart_.references)
      for (std::size_t i = 1; i < reference.x.size(); ++i) {
        const Point a{x_px(reference.x[i - 1]), y_px(reference.y[i - 1])},
            b{x_px(reference.x[i]), y_px(reference.y[i])};
        const float from = std::max(box.x0, a.x), to = std::min(box.x1, b.x);
        if (from >= to) continue;
        const auto y_at = [&](float x) { return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x); };
        const auto [low, high] = std::minmax({y_at(from), y_at(to)});
        if (low < box.y1 && high > box.y0) return true;
      }
    return false;
  }

  void x_labels() {
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
    if (named_)
      sheet_.text(Layer::kAxes, kLabelType, palette_.text2, sheet_.shortened(kLabelType, chart_.x.name, plot_.width()),
                  plot_.center_x(), top + sheet_.height(kLabelType) * (staggered_ ? 2.0f : 1.0f) + sheet_.px(1),
                  Anchor::kMiddle);
  }

  // Names of places, on one line or on two by turns; shortened only where they would meet their neighbour on the line.
  void category_labels(float top) {
    const float slot = plot_.width() / static_cast<float>(chart_.x.high - chart_.x.low), gap = sheet_.px(6);
    const std::size_t turn = staggered_ ? 2 : 1, count = chart_.categories.size();
    const auto half = [&](const std::string& name) { return sheet_.width(kLabelType, name) * 0.5f; };
    // Within the plot, also where few places have long names.
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
      sheet_.text(Layer::kAxes, kLabelType, palette_.text3, name, middle(i, name),
                  top + (i % turn == 1 ? sheet_.height(kLabelType) : 0.0f), Anchor::kMiddle);
    }
  }

  static constexpr float kLeastNamed = 120;  // px of height from which there is room for the name of the x axis

  Sheet& sheet_;
  const Palette& palette_;
  const Chart& chart_;
  std::optional<double> guess_;
  std::vector<Look> looks_;
  Rect head_, plot_;
  ChartTicks y_;
  bool staggered_ = false;  // names of places that do not fit side by side stand on two lines
  bool named_ = false;      // the x axis says what it counts
  struct Label {
    Rect box;
    std::string text;
  };
  struct Number {
    Rect box;
    std::string text;
    bool struck = false;  // by a line
  };
  std::vector<Label> reference_labels_;
  std::vector<Number> numbers_;  // over bars
  std::vector<Rect> bars_;       // and the numbers over them
  std::vector<Rect> taken_;      // labels and marks that another label keeps off
};

// One sample and word a series, of all charts; wraps. Returns the height that it took, at most a third of the area: the
// charts come first.
float lay_out_legend(Sheet& sheet, const std::vector<Chart>& charts, Rect area) {
  const float line = sheet.snap(sheet.height(kMediumType) + sheet.px(6)), gap = sheet.px(18), box = sheet.px(14);
  const float most = area.height() / 3;
  std::set<std::tuple<std::string, bool>> said;
  float x = area.x0, y = area.y0;
  for (const Chart& chart : charts) {
    const std::vector<Look> looks = looks_of(chart);
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const ChartSeries& series = chart.series[s];
      if (series.label.empty() || !said.insert({series.label, series.ghost}).second) continue;
      const float width = box + sheet.px(6) + sheet.width(kMediumType, series.label);
      if (x > area.x0 && x + width > area.x1) {
        x = area.x0;
        y += line;
      }
      if (y + line > area.y0 + most) return y - area.y0 + sheet.px(4);
      const float middle = y + line * 0.5f;
      if (chart.bars)
        lay_out_box(sheet, {x, middle - box * 0.4f, x + box, middle + box * 0.4f}, looks[s]);
      else
        lay_out_mark(sheet, {x + box * 0.5f, middle}, looks[s]);
      sheet.text_mid(Layer::kLabels, kMediumType, sheet.palette().text2, series.label, x + box + sheet.px(6), middle);
      x += width + gap;
    }
  }
  return said.empty() ? 0 : y + line - area.y0 + sheet.px(4);
}

void lay_out_guess_line(Sheet& sheet, float y, const Rect& plot) {
  sheet.add(Layer::kMarks, Polyline{.points = {{plot.x0, y}, {plot.x1, y}},
                                    .color = sheet.palette().text,
                                    .width = sheet.line_px(2),
                                    .dash = sheet.px(7),
                                    .gap = sheet.px(4)});
}

// The reader's guess over the chart that is asked about, its pill where it covers no bar and no number, if there is
// such a place.
void lay_out_guess(Sheet& sheet, const lessons::FigureData& figure, const PlotMap& map, ChartLayout& chart) {
  const float y = std::clamp(sheet.snap(map.y_px(*figure.guess)), map.plot.y0, map.plot.y1);
  lay_out_guess_line(sheet, y, map.plot);
  chart.draw_numbers();
  constexpr std::array kShares{0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 0.3f, 0.2f, 0.1f};
  const auto pill_at = [&](float share) {
    return guess_pill(sheet, figure, map.y, {map.plot.x0 + map.plot.width() * share, y}, map.plot);
  };
  const auto clear = [&](float share) { return chart.is_clear(pill_at(share).box); };
  const auto* const share = std::find_if(kShares.begin(), kShares.end(), clear);
  const GuessPill pill = pill_at(share == kShares.end() ? kShares.front() : *share);
  draw_pill(sheet, figure, pill);
  if (figure.guess_locked) return;
  sheet.scene().map = map;  // to drag on
  sheet.scene().guess = pill.box;
}

}  // namespace

GuessPill guess_pill(const Sheet& sheet, const lessons::FigureData& figure, const lessons::Axis& axis, Point at,
                     const Rect& within) {
  const ByteUnit unit = guess_unit(axis.unit, axis.high);
  const bool percent = axis.unit == lessons::AxisUnit::kPercent;
  const int decimals = axis.unit == lessons::AxisUnit::kBytesPerSecond && *figure.guess >= 100 * unit.bytes ? 0 : 1;
  const std::string number = percent ? fmt::format("{:.1f}", *figure.guess) : in_unit(*figure.guess, unit, decimals);
  const std::string value = number + " " + std::string(unit.name);
  std::string text = (figure.guess_locked ? "you said " : "your guess ") + value;
  const float width = sheet.snap(sheet.width(kPeakType, text) + sheet.px(24)), height = sheet.px(28);
  const auto inside = [](float from, float low, float high) { return std::max(low, std::min(from, high)); };
  const float x0 = sheet.snap(inside(at.x - width * 0.5f, within.x0, within.x1 - width));
  const float y0 = sheet.snap(inside(at.y - height * 0.5f, within.y0, within.y1 - height));
  return {{x0, y0, x0 + width, y0 + height}, std::move(text)};
}

void draw_pill(Sheet& sheet, const lessons::FigureData& figure, const GuessPill& pill) {
  const Palette& palette = sheet.palette();
  sheet.fill(Layer::kMarks, pill.box, figure.guess_locked ? palette.well : palette.ink, pill.box.height() * 0.5f);
  sheet.text_mid(Layer::kLabels, kPeakType, figure.guess_locked ? palette.text : palette.on_ink, pill.text,
                 pill.box.center_x(), pill.box.center_y(), Anchor::kMiddle);
}

void lay_out_charts(Sheet& sheet, const lessons::FigureData& figure, Rect area) {
  constexpr float kLowCharts = 150;  // px: three rows of less are hard to read
  const std::vector<Chart>& charts = figure.charts;
  area.y0 += lay_out_legend(sheet, charts, area);
  const auto count = static_cast<int>(charts.size());
  const float gap = sheet.px(20);
  // Narrow charts before low ones.
  const float least = area.height() < sheet.px(kLowCharts) * 3 && count > 6 ? 185.0f : 230.0f;
  const int most = std::max(1, static_cast<int>(area.width() / sheet.px(least)));
  const int columns = std::min(most, count <= 2 ? count : count <= 4 ? 2 : count <= 6 ? 3 : 4);
  const int rows = (count + columns - 1) / columns;
  const float width = (area.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const float height = (area.height() - gap * 0.6f * static_cast<float>(rows - 1)) / static_cast<float>(rows);
  for (int i = 0; i < count; ++i) {
    const float x0 = area.x0 + static_cast<float>(i % columns) * (width + gap);
    const float y0 = area.y0 + static_cast<float>(i / columns) * (height + gap * 0.6f);
    const Chart& data = charts[static_cast<std::size_t>(i)];
    const bool asked = static_cast<std::size_t>(i) == figure.guess_chart;
    ChartLayout chart(sheet, data, {x0, y0, x0 + width, y0 + height}, asked ? figure.guess : std::nullopt);
    chart.draw();
    if (asked && figure.guess)
      lay_out_guess(sheet, figure, {.plot = chart.plot(), .x = data.x, .y = data.y}, chart);
    else
      chart.draw_numbers();
  }
}

}  // namespace headroom::app::paint
