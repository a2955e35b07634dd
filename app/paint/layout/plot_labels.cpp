#include <algorithm>
#include <array>
#include <cmath>

#include "app/paint/layout/plot_kinds.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureHead;
using lessons::Timeline;

class PlotLabels {
 public:
  PlotLabels(Sheet& sheet, const FigureHead& head, const Timeline& timeline, const PlotMap& map,
             const std::vector<PxColumn>& columns)
      : sheet_(sheet),
        palette_(sheet.palette()),
        head_(head),
        timeline_(timeline),
        map_(map),
        columns_(columns),
        unit_(lessons::unit_of(timeline.y)),
        pen_(sheet, map.plot),
        placer_(pen_.placer()) {
    for (const PxColumn& column : columns) placer_.data_top(column.x0, column.x1, column.top());
    for (const lessons::StepLine& line : timeline.lines) {
      line_rects_.push_back(rects_of(line));
      for (const Rect& rect : line_rects_.back()) placer_.avoid(rect);
    }
    if (cap_shown()) avoid_horizontal(timeline.cap->y);
    if (head.guess) avoid_horizontal(*head.guess);
    if (timeline.hidden_from) {
      const float x = map.x_px(*timeline.hidden_from);
      placer_.avoid({x - 1, map.plot.y0, x + 2, map.plot.y1});
    }
  }

  PlotNames draw(const std::vector<EdgeName>& outside) {
    if (const Rect rect = failed_rect(sheet_, timeline_, map_); rect.width() > 0) placer_.take(rect);
    guess();
    failed();
    limit();
    marks();
    for (std::size_t i = 0; i < timeline_.lines.size(); ++i) {
      names_.lines.push_back(line_label(i));
      if (!names_.lines.back()) line_rects_[i].clear();  // the line is not drawn
    }
    names_.kinds = label_kinds(pen_, timeline_, columns_, map_, unit_, outside);
    return std::move(names_);
  }

 private:
  bool cap_shown() const { return timeline_.cap && timeline_.cap->y < map_.y.high; }

  void avoid_horizontal(double value) {
    const float y = map_.y_px(value);
    placer_.avoid({map_.plot.x0, y - 1, map_.plot.x1, y + 2});
  }

  std::vector<Rect> rects_of(const lessons::StepLine& line) const {
    const std::vector<Point> points = step_points(line, map_, sheet_.frame().whole_pixels, 0);
    std::vector<Rect> rects;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const Point &a = points[i - 1], &b = points[i];
      rects.push_back({std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x) + 1, std::max(a.y, b.y) + 2});
    }
    return rects;
  }

  bool crosses_other(Rect box, std::size_t line) const {
    if (cap_shown() && std::abs(map_.y_px(timeline_.cap->y) - box.center_y()) < box.height() * 0.5f + 1) return true;
    for (std::size_t i = 0; i < line_rects_.size(); ++i) {
      const auto meets = [&](const Rect& rect) { return rect.meets(box); };
      if (i != line && std::any_of(line_rects_[i].begin(), line_rects_[i].end(), meets)) return true;
    }
    return false;
  }

  void guess() {
    if (!head_.guess && !head_.guess_open) return;
    const float from = !head_.guess_open || !timeline_.hidden_from
                           ? map_.plot.x0
                           : std::clamp(map_.x_px(*timeline_.hidden_from), map_.plot.x0, map_.plot.x1);
    if (!head_.guess) {
      pill(std::string(kDragToGuess), from, map_.plot.y1);
      return;
    }
    const float y = std::clamp(sheet_.snap(map_.y_px(*head_.guess)), map_.plot.y0, map_.plot.y1);
    lay_out_guess_line(sheet_, {from, y}, {map_.plot.x1, y});
    const std::string value = in_unit(*head_.guess, unit_, 1) + " " + std::string(unit_.name);
    if (head_.guess_open) {
      pill("your guess " + value, from, y);
    } else {
      you_said("you said " + value, y);
    }
  }

  // On the guess's line, else just above or below it.
  void you_said(const std::string& text, float y) {
    const Rect size = pen_.box_at(kMediumType, text, 0, 0);
    for (const float shift : {-0.5f, -1.1f, 0.1f}) {
      for (const float share : {0.56f, 0.7f, 0.84f, 0.4f, 0.25f, 0.1f, 0.93f, 0.02f}) {
        const float x = map_.plot.x0 + (map_.plot.width() - size.width()) * share;
        const Rect box = pen_.box_at(kMediumType, text, sheet_.snap(x), sheet_.snap(y + shift * size.height()));
        if (!placer_.is_free(box) || !placer_.clear_of_edge(box) || crosses_other(box, line_rects_.size())) continue;
        placer_.take(box);
        pen_.put(box, kMediumType, palette_.text, palette_.well, text);
        return;
      }
    }
    names_.labels.push_back(text);
  }

  // With a run A the pill stays at the right end, where run A's curve is low, because the pill must not change sides
  // while dragged.
  void pill(const std::string& text, float from, float y) {
    const Type type = kPeakType;
    const float width = sheet_.snap(sheet_.width(type, text) + sheet_.px(38)), height = sheet_.px(30);
    const float wanted = timeline_.baseline_peak ? map_.plot.x1 : (from + map_.plot.x1) * 0.5f;
    const float middle =
        kept_within(wanted, map_.plot.x0 + width * 0.5f + sheet_.px(2), map_.plot.x1 - width * 0.5f - sheet_.px(2));
    const float x0 = sheet_.snap(middle - width * 0.5f);
    const float y0 = sheet_.snap(kept_within(y - height * 0.5f, map_.plot.y0, map_.plot.y1 - height));
    const Rect box{x0, y0, x0 + width, y0 + height};
    sheet_.fill(Layer::kMarks, {box.x0, box.y0 + sheet_.px(2), box.x1, box.y1 + sheet_.px(3)}, palette_.shade.shadow,
                height * 0.5f);
    sheet_.fill(Layer::kMarks, box, palette_.ink, height * 0.5f);
    for (int dot = 0; dot < 6; ++dot) {  // the grip
      const Point at{box.x0 + sheet_.px(15) + sheet_.px(5) * static_cast<float>(dot % 2),
                     box.center_y() + sheet_.px(5) * static_cast<float>(dot / 2 - 1)};
      sheet_.add(Layer::kMarks,
                 Disc{.center = at, .radius = sheet_.px(1), .fill = faded(palette_.on_ink, 0.7f), .stroke = {}});
    }
    sheet_.text_mid(Layer::kLabels, type, palette_.on_ink, text, box.x0 + sheet_.px(28), box.center_y());
    chevron(box.center_x(), box.y0 - sheet_.px(8), -1);
    chevron(box.center_x(), box.y1 + sheet_.px(8), 1);
    placer_.take({box.x0, box.y0 - sheet_.px(12), box.x1, box.y1 + sheet_.px(12)});
    sheet_.scene().guess = box;
  }

  void chevron(float x, float y, float way) {
    const float w = sheet_.px(3);
    if (y - w < map_.plot.y0 || y + w > map_.plot.y1) return;
    sheet_.line(Layer::kMarks, {{x - w, y}, {x, y + way * w}, {x + w, y}}, palette_.text2,
                1.25f * sheet_.frame().scale);
  }

  // Places for level lines' labels, as shares of the plot's width: the right end, then clear of a failed allocation, …
  static constexpr std::array kPlaces{1.0f, 0.92f, 0.0f, 0.75f, 0.5f, 0.25f};

  float left_at(float share, Type type, const std::string& text) const {
    const float width = pen_.box_at(type, text, 0, 0).width() + 2 * sheet_.px(4);
    return sheet_.snap(map_.plot.x0 + sheet_.px(4) + (map_.plot.width() - width) * share);
  }

  // At the top, with an arrow, if the axis does not reach the limit.
  void limit() {
    if (!timeline_.cap) return;
    const Type type = kStrongType;
    const std::string text = timeline_.cap->label + (cap_shown() ? "" : " ↑");
    const float y = map_.y_px(timeline_.cap->y), height = pen_.box_at(type, text, 0, 0).height();
    std::vector<float> tops{map_.plot.y0 + sheet_.px(3)};
    if (cap_shown()) tops = {sheet_.snap(y - height - sheet_.px(3)), sheet_.snap(y + sheet_.px(4))};
    std::vector<Rect> boxes;
    for (const float top : tops)
      for (const float share : kPlaces) boxes.push_back(pen_.box_at(type, text, left_at(share, type, text), top));
    const Color color = cap_shown() ? palette_.danger : palette_.text2;
    if (!pen_.place(boxes, type, color, text)) names_.labels.push_back(text);
  }

  void failed() {
    const Rect rect = failed_rect(sheet_, timeline_, map_);
    if (rect.width() <= 0) return;
    const Type type = kStrongType;
    const Rect size = pen_.box_at(type, timeline_.failed->label, 0, 0);
    const float left = rect.x0 - size.width() - sheet_.px(6), middle = rect.center_y() - size.height() * 0.5f;
    std::vector<Rect> candidates;
    for (const float shift : {0.0f, -1.2f, 1.2f, -2.4f}) {
      candidates.push_back(
          pen_.box_at(type, timeline_.failed->label, left, sheet_.snap(middle + shift * size.height())));
    }
    const float end = rect.x1 - size.width();
    candidates.push_back(
        pen_.box_at(type, timeline_.failed->label, end, sheet_.snap(rect.y0 - size.height() - sheet_.px(3))));
    candidates.push_back(pen_.box_at(type, timeline_.failed->label, end, sheet_.snap(rect.y1 + sheet_.px(3))));
    if (!pen_.place(candidates, type, palette_.danger, timeline_.failed->label))
      names_.labels.push_back(timeline_.failed->label);
  }

  void ring(const lessons::PeakMark& mark, float radius, float width) {
    const float x = map_.x_px(mark.x), y = map_.y_px(mark.y);
    sheet_.add(
        Layer::kMarks,
        Disc{
            .center = {x, y}, .radius = radius, .fill = palette_.well, .stroke = palette_.text, .stroke_width = width});
    placer_.take({x - radius - 1, y - radius - 1, x + radius + 1, y + radius + 1});
  }

  bool in_plot(const lessons::PeakMark& mark) const {
    const float x = map_.x_px(mark.x);
    return x >= map_.plot.x0 - 1 && x <= map_.plot.x1 + 1 && mark.y <= map_.y.high;
  }

  // Next to a ring, then farther above and below.
  std::vector<Rect> around(const lessons::PeakMark& mark, Type type) const {
    const Rect size = pen_.box_at(type, mark.label, 0, 0);
    const float x = map_.x_px(mark.x), y = map_.y_px(mark.y), gap = sheet_.px(8);
    std::vector<Rect> boxes;
    for (const float shift : {0.0f, -0.4f, 0.4f, -1.0f, -1.5f, -2.0f, 1.0f}) {
      const float top = sheet_.snap(y + (shift - 0.5f) * size.height());
      boxes.push_back(pen_.box_at(type, mark.label, sheet_.snap(x - gap - size.width()), top));
      boxes.push_back(pen_.box_at(type, mark.label, sheet_.snap(x + gap), top));
    }
    boxes.push_back(
        pen_.box_at(type, mark.label, sheet_.snap(x - size.width() * 0.5f), sheet_.snap(y - size.height() - gap)));
    return boxes;
  }

  // Rings come before names, so that no name covers a ring or is next to the wrong one.
  void marks() {
    const bool b = timeline_.peak && in_plot(*timeline_.peak),
               a = timeline_.baseline_peak && in_plot(*timeline_.baseline_peak),
               parts = timeline_.parting && in_plot(*timeline_.parting);
    if (b) ring(*timeline_.peak, sheet_.px(4.5f), 2 * sheet_.frame().scale);
    if (a) ring(*timeline_.baseline_peak, sheet_.px(4), 1.5f * sheet_.frame().scale);
    if (parts) ring(*timeline_.parting, sheet_.px(3), sheet_.frame().scale);
    if (b) name_ring(*timeline_.peak, a ? &*timeline_.baseline_peak : nullptr, kPeakType);
    if (a) name_ring(*timeline_.baseline_peak, b ? &*timeline_.peak : nullptr, kMediumType);
    if (parts) parting(b ? &*timeline_.peak : nullptr);
  }

  // Pointing at the ring or its name shows both events.
  void parting(const lessons::PeakMark* peak) {
    const lessons::PartingMark& mark = *timeline_.parting;
    const Point at{map_.x_px(mark.x), map_.y_px(mark.y)};
    const float reach = sheet_.px(8);
    sheet_.scene().hits.push_back({{at.x - reach, at.y - reach, at.x + reach, at.y + reach}, std::nullopt, mark.tip});
    if (const auto box = name_ring(mark, peak, kMediumType))
      sheet_.scene().hits.push_back({*box, std::nullopt, mark.tip});
  }

  // Next to its ring, else at the nearest place that covers no curve, with a line to the ring. Empty without a place.
  std::optional<Rect> name_ring(const lessons::PeakMark& mark, const lessons::PeakMark* other, Type type) {
    const Point at{map_.x_px(mark.x), map_.y_px(mark.y)};
    const auto place = [&](std::vector<Rect> boxes) {
      const float near = sheet_.px(14);
      if (other) {
        const Point ring{map_.x_px(other->x), map_.y_px(other->y)};
        std::erase_if(boxes, [&](const Rect& box) {
          return Rect{box.x0 - near, box.y0 - 1, box.x1 + near, box.y1 + 1}.contains(ring);
        });
      }
      return placer_.place(boxes);
    };
    auto box = place(around(mark, type));
    if (!box) box = place(everywhere(mark.label, type, at));
    if (!box) {
      names_.labels.push_back(mark.label);
      return std::nullopt;
    }
    const Point end{std::clamp(at.x, box->x0, box->x1), std::clamp(at.y, box->y0, box->y1)};
    const float away = std::hypot(end.x - at.x, end.y - at.y), radius = sheet_.px(5);
    if (away > sheet_.px(9)) {  // the line begins at the ring's edge
      const Point from{at.x + (end.x - at.x) * radius / away, at.y + (end.y - at.y) * radius / away};
      sheet_.line(Layer::kMarks, {from, end}, palette_.text, sheet_.line_px(1));
    }
    pen_.put(*box, type, palette_.text, palette_.well, mark.label);
    return box;
  }

  // Boxes anywhere, nearest to `at` first.
  std::vector<Rect> everywhere(const std::string& text, Type type, Point at) const {
    const Rect size = pen_.box_at(type, text, 0, 0);
    std::vector<std::pair<float, Rect>> boxes;
    for (float y = map_.plot.y0 + 1; y + size.height() < map_.plot.y1; y += sheet_.px(6)) {
      for (float x = map_.plot.x0 + 1; x + size.width() < map_.plot.x1; x += sheet_.px(16)) {
        const Rect box = pen_.box_at(type, text, sheet_.snap(x), sheet_.snap(y));
        const float away = std::hypot(std::clamp(at.x, box.x0, box.x1) - at.x, std::clamp(at.y, box.y0, box.y1) - at.y);
        boxes.emplace_back(away, box);
      }
    }
    std::stable_sort(boxes.begin(), boxes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Rect> nearest;
    for (const auto& [away, box] : boxes) nearest.push_back(box);
    return nearest;
  }

  // On the line where it is level, else just above or below it; the long text first.
  bool line_label(std::size_t index) {
    const lessons::StepLine& line = timeline_.lines[index];
    if (line.label.empty()) return true;
    const std::vector<Point> points = step_points(line, map_, sheet_.frame().whole_pixels, 0);
    for (const std::string* text : {&line.label, &line.short_label}) {
      LinePlaces places;
      for (const float share : {0.80f, 0.65f, 0.5f, 0.35f, 0.2f, 0.92f, 0.1f, 0.02f}) {
        add_line_places(*text, points, share, places);
      }
      for (const Rect& box : places.in_order()) {
        if (!placer_.is_free(box) || !placer_.clear_of_data(box) || crosses_other(box, index)) continue;
        placer_.take(box);
        pen_.put(box, kMediumType, palette_.text2, palette_.well, *text);
        return true;
      }
    }
    // Even without a label, color identifies the baseline, and dashes a computed line.
    const bool drawn = line.style != lessons::LineStyle::kReserved && line.style != lessons::LineStyle::kProcess;
    if (drawn) names_.labels.push_back(line.label);
    return drawn;
  }

  struct LinePlaces {
    std::vector<Rect> on, above, below;

    std::vector<Rect> in_order() const {
      std::vector<Rect> all = on;
      all.insert(all.end(), above.begin(), above.end());
      all.insert(all.end(), below.begin(), below.end());
      return all;
    }
  };

  void add_line_places(const std::string& text, const std::vector<Point>& points, float share,
                       LinePlaces& places) const {
    const Rect size = pen_.box_at(kMediumType, text, 0, 0);
    const float x = sheet_.snap(map_.plot.x0 + (map_.plot.width() - size.width()) * share);
    float highest = map_.plot.y1, lowest = map_.plot.y0;
    bool covered = false;
    for (std::size_t i = 1; i < points.size(); i += 2) {
      const Point &a = points[i - 1], &b = points[i];
      if (b.x <= x || a.x >= x + size.width()) continue;
      covered = true;
      highest = std::min(highest, a.y);
      lowest = std::max(lowest, a.y);
    }
    if (!covered || points.front().x > x || points.back().x < x + size.width()) return;
    if (lowest - highest < 1)
      places.on.push_back(pen_.box_at(kMediumType, text, x, sheet_.snap(highest - size.height() * 0.5f)));
    places.above.push_back(pen_.box_at(kMediumType, text, x, sheet_.snap(highest - size.height() - sheet_.px(2))));
    places.below.push_back(pen_.box_at(kMediumType, text, x, sheet_.snap(lowest + sheet_.px(3))));
  }

  Sheet& sheet_;
  const Palette& palette_;
  const FigureHead& head_;
  const Timeline& timeline_;
  const PlotMap& map_;
  const std::vector<PxColumn>& columns_;
  ShownUnit unit_;
  LabelPen pen_;
  LabelPlacer& placer_;
  std::vector<std::vector<Rect>> line_rects_;  // per line of the figure
  PlotNames names_;
};

}  // namespace

PlotNames lay_out_labels(Sheet& sheet, const FigureHead& head, const Timeline& timeline, const PlotMap& map,
                         const std::vector<PxColumn>& columns, const std::vector<EdgeName>& outside) {
  return PlotLabels(sheet, head, timeline, map, columns).draw(outside);
}

}  // namespace headroom::app::paint
