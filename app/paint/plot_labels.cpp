#include "app/paint/plot_labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "app/paint/labels.h"
#include "app/paint/plot_parts.h"
#include "lessons/names.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureData;

class PlotLabels {
 public:
  PlotLabels(Sheet& sheet, const FigureData& figure, const PlotMap& map, const std::vector<PxColumn>& columns)
      : sheet_(sheet),
        palette_(sheet.palette()),
        figure_(figure),
        map_(map),
        columns_(columns),
        unit_(byte_unit(figure.y.high)),
        placer_(map.plot) {
    for (const PxColumn& column : columns) placer_.data_top(column.x0, column.x1, column.top());
    for (const lessons::StepLine& line : figure.lines) {
      line_rects_.push_back(rects_of(line));
      for (const Rect& rect : line_rects_.back()) placer_.avoid(rect);
    }
    if (cap_shown()) avoid_horizontal(figure.cap->y);
    if (figure.guess) avoid_horizontal(*figure.guess);
  }

  // Returns which lines are named.
  std::vector<bool> draw() {
    if (const Rect rect = failed_rect(sheet_, figure_, map_); rect.width() > 0) placer_.take(rect);
    guess();
    failed();
    limit();
    peak();
    std::vector<bool> named;
    for (std::size_t i = 0; i < figure_.lines.size(); ++i) {
      named.push_back(line_label(i));
      if (!named.back()) line_rects_[i].clear();  // it is not drawn
    }
    kinds();
    ghost_peak();
    return named;
  }

 private:
  bool cap_shown() const { return figure_.cap && figure_.cap->y < map_.y.high; }
  float pad_x() const { return sheet_.px(4); }
  float pad_y() const { return sheet_.px(1); }

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

  // Another line than this one, or the limit, runs through the box.
  bool crosses_other(Rect box, std::size_t line) const {
    if (cap_shown() && std::abs(map_.y_px(figure_.cap->y) - box.center_y()) < box.height() * 0.5f + 1) return true;
    for (std::size_t i = 0; i < line_rects_.size(); ++i) {
      const auto meets = [&](const Rect& rect) { return rect.meets(box); };
      if (i != line && std::any_of(line_rects_[i].begin(), line_rects_[i].end(), meets)) return true;
    }
    return false;
  }

  // A label's whole box, patch included, with its upper left corner there.
  Rect box_at(Type type, const std::string& text, float x, float y) const {
    return {x, y, x + sheet_.width(type, text) + 2 * pad_x(), y + sheet_.height(type) + 2 * pad_y()};
  }

  void put(Rect box, Type type, Color color, Color patch, const std::string& text) {
    sheet_.fill(Layer::kLabels, box, patch, sheet_.px(3));
    sheet_.text(Layer::kLabels, type, color, text, box.x0 + pad_x(), box.y0 + pad_y());
  }

  bool place(const std::vector<Rect>& candidates, Type type, Color color, const std::string& text, bool cover_data) {
    const auto box = placer_.place(candidates, cover_data);
    if (box) put(*box, type, color, palette_.well, text);
    return box.has_value();
  }

  // --- the question -----------------------------------------------------------------------------------------------

  void guess() {
    if (!figure_.guess) return;
    const float y = std::clamp(sheet_.snap(map_.y_px(*figure_.guess)), map_.plot.y0, map_.plot.y1);
    const float from = figure_.guess_locked || !figure_.veil_from
                           ? map_.plot.x0
                           : std::clamp(map_.x_px(*figure_.veil_from), map_.plot.x0, map_.plot.x1);
    sheet_.add(Layer::kMarks, Polyline{.points = {{from, y}, {map_.plot.x1, y}},
                                       .color = palette_.text,
                                       .width = sheet_.line_px(2),
                                       .dash = sheet_.px(7),
                                       .gap = sheet_.px(4)});
    const std::string value = in_unit(*figure_.guess, unit_, 1) + " " + std::string(unit_.name);
    if (figure_.guess_locked) {
      you_said("you said " + value, y);
    } else {
      pill("your guess " + value, from, y);
    }
  }

  void you_said(const std::string& text, float y) {
    const Rect size = box_at(kMediumType, text, 0, 0);
    std::vector<Rect> candidates;
    for (const float share : {0.56f, 0.7f, 0.84f, 0.4f, 0.25f, 0.1f}) {
      const float x = map_.plot.x0 + map_.plot.width() * share - size.width() * 0.5f;
      candidates.push_back(box_at(kMediumType, text, sheet_.snap(x), sheet_.snap(y - size.height() * 0.5f)));
    }
    // At the very top or bottom of the plot the line has no room around it.
    candidates.push_back(box_at(kMediumType, text, map_.plot.x0 + sheet_.px(6), y + sheet_.px(3)));
    candidates.push_back(box_at(kMediumType, text, map_.plot.x0 + sheet_.px(6), y - size.height() - sheet_.px(2)));
    for (const bool careful : {true, false}) {  // on the line, clear of the others, if there is such a place
      for (const Rect& box : candidates) {
        if (!placer_.is_free(box)) continue;
        if (careful && (!placer_.clear_of_data(box) || crosses_other(box, line_rects_.size()))) continue;
        placer_.take(box);
        put(box, kMediumType, palette_.text, palette_.well, text);
        return;
      }
    }
  }

  void pill(const std::string& text, float from, float y) {
    const Type type = kPeakType;
    const float width = sheet_.snap(sheet_.width(type, text) + sheet_.px(38)), height = sheet_.px(30);
    const float middle = std::clamp((from + map_.plot.x1) * 0.5f, map_.plot.x0 + width * 0.5f + sheet_.px(2),
                                    std::max(map_.plot.x1 - width * 0.5f - sheet_.px(2), map_.plot.x0 + width * 0.5f));
    const float x0 = sheet_.snap(middle - width * 0.5f);
    const float y0 = sheet_.snap(std::clamp(y - height * 0.5f, map_.plot.y0, map_.plot.y1 - height));
    const Rect box{x0, y0, x0 + width, y0 + height};
    sheet_.fill(Layer::kMarks, {box.x0, box.y0 + sheet_.px(2), box.x1, box.y1 + sheet_.px(3)}, palette_.shadow,
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
    sheet_.add(Layer::kMarks, Polyline{.points = {{x - w, y}, {x, y + way * w}, {x + w, y}},
                                       .color = palette_.text2,
                                       .width = 1.25f * sheet_.frame().scale});
  }

  // --- limit, failure, peak ---------------------------------------------------------------------------------------

  void limit() {
    if (!figure_.cap) return;
    const Type type = kStrongType;
    if (!cap_shown()) {  // off the axis: say where it is
      const std::string text = figure_.cap->label + " ↑";
      const float width = box_at(type, text, 0, 0).width();
      place({box_at(type, text, map_.plot.x1 - width - sheet_.px(4), map_.plot.y0 + sheet_.px(3))}, type,
            palette_.danger, text, true);
      return;
    }
    const Rect size = box_at(type, figure_.cap->label, 0, 0);
    const float y = map_.y_px(figure_.cap->y);
    const float right = map_.plot.x1 - size.width() - sheet_.px(4), left = map_.plot.x0 + sheet_.px(4);
    const float aside = map_.plot.x1 - map_.plot.width() * 0.08f - size.width();  // of an allocation that failed
    const float above = sheet_.snap(y - size.height() - sheet_.px(3)), below = sheet_.snap(y + sheet_.px(4));
    const auto at = [&](float x, float top) { return box_at(type, figure_.cap->label, x, top); };
    place({at(right, above), at(aside, above), at(left, above), at(right, below), at(left, below)}, type,
          palette_.danger, figure_.cap->label, true);
  }

  void failed() {
    const Rect rect = failed_rect(sheet_, figure_, map_);
    if (rect.width() <= 0) return;
    const Type type = kStrongType;
    const Rect size = box_at(type, figure_.failed->label, 0, 0);
    const float left = rect.x0 - size.width() - sheet_.px(6), middle = rect.center_y() - size.height() * 0.5f;
    std::vector<Rect> candidates;
    for (const float shift : {0.0f, -1.2f, 1.2f, -2.4f}) {
      candidates.push_back(box_at(type, figure_.failed->label, left, sheet_.snap(middle + shift * size.height())));
    }
    const float end = rect.x1 - size.width();
    candidates.push_back(box_at(type, figure_.failed->label, end, sheet_.snap(rect.y0 - size.height() - sheet_.px(3))));
    candidates.push_back(box_at(type, figure_.failed->label, end, sheet_.snap(rect.y1 + sheet_.px(3))));
    place(candidates, type, palette_.danger, figure_.failed->label, true);
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

  // Beside a ring, then further and further above and below.
  std::vector<Rect> around(const lessons::PeakMark& mark, Type type) const {
    const Rect size = box_at(type, mark.label, 0, 0);
    const float x = map_.x_px(mark.x), y = map_.y_px(mark.y), gap = sheet_.px(8);
    std::vector<Rect> boxes;
    for (const float shift : {0.0f, -0.5f, -1.0f, -1.5f, -2.0f, 0.5f, 1.0f}) {
      const float top = sheet_.snap(y + (shift - 0.5f) * size.height());
      boxes.push_back(box_at(type, mark.label, sheet_.snap(x - gap - size.width()), top));
      boxes.push_back(box_at(type, mark.label, sheet_.snap(x + gap), top));
    }
    boxes.push_back(
        box_at(type, mark.label, sheet_.snap(x - size.width() * 0.5f), sheet_.snap(y - size.height() - gap)));
    return boxes;
  }

  void peak() {
    if (!figure_.peak || !in_plot(*figure_.peak)) return;
    ring(*figure_.peak, sheet_.px(4.5f), 2 * sheet_.frame().scale);
    place(around(*figure_.peak, kPeakType), kPeakType, palette_.text, figure_.peak->label, true);
  }

  void ghost_peak() {
    if (!figure_.ghost_peak || !in_plot(*figure_.ghost_peak)) return;
    ring(*figure_.ghost_peak, sheet_.px(4), 1.5f * sheet_.frame().scale);
    place(around(*figure_.ghost_peak, kMediumType), kMediumType, palette_.text, figure_.ghost_peak->label, true);
  }

  // --- lines ------------------------------------------------------------------------------------------------------

  // On the line where it is level, else just above it or below; the long words first.
  bool line_label(std::size_t index) {
    const lessons::StepLine& line = figure_.lines[index];
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
        put(box, kMediumType, palette_.text2, palette_.well, *text);
        return true;
      }
    }
    return line.style == lessons::LineStyle::kGhost;  // the other run's: its colour tells
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
    const Rect size = box_at(kMediumType, text, 0, 0);
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
      places.on.push_back(box_at(kMediumType, text, x, sheet_.snap(highest - size.height() * 0.5f)));
    places.above.push_back(box_at(kMediumType, text, x, sheet_.snap(highest - size.height() - sheet_.px(2))));
    places.below.push_back(box_at(kMediumType, text, x, sheet_.snap(lowest + sheet_.px(3))));
  }

  // --- kinds of memory --------------------------------------------------------------------------------------------

  void kinds() {
    if (columns_.empty()) return;
    std::array<int, record::kNumCategories> order{};
    std::iota(order.begin(), order.end(), 0);
    std::array<float, record::kNumCategories> thickest{};
    for (const PxColumn& column : columns_) {
      for (int kind : order) {
        auto& most = thickest[static_cast<std::size_t>(kind)];
        most = std::max(most, column.thickness(kind));
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return thickest[static_cast<std::size_t>(a)] > thickest[static_cast<std::size_t>(b)];
    });
    for (const int kind : order) {
      if (thickest[static_cast<std::size_t>(kind)] < sheet_.px(4)) break;
      if (!inside(kind)) with_leader(kind);
    }
  }

  std::string name_of_kind(int kind) const {
    return lessons::capitalised(record::label_of(static_cast<record::Category>(kind)));
  }

  std::string value_of(const PxColumn& column, int kind) const {
    return in_unit(static_cast<double>(column.source->high[static_cast<std::size_t>(kind)]), unit_, 2);
  }

  // In the band: what stands still at its left end and with its size, what moves where it is thickest.
  bool inside(int kind) {
    const std::string name = name_of_kind(kind);
    const bool still = figure_.quiet[static_cast<std::size_t>(kind)];
    const float value_width = still ? sheet_.px(8) + sheet_.width(kLabelType, value_of(columns_.front(), kind)) : 0;
    return (still && inside(kind, name, value_width)) || inside(kind, name, 0);
  }

  bool inside(int kind, const std::string& name, float extra) {
    const float width = box_at(kStrongType, name, 0, 0).width() + extra, height = sheet_.height(kStrongType);
    const bool still = figure_.quiet[static_cast<std::size_t>(kind)];
    struct Place {
      Rect box;
      float room;
    };
    std::vector<Place> places;
    for (float x = columns_.front().x0 + sheet_.px(6); x + width < columns_.back().x1 - sheet_.px(2);
         x += sheet_.px(4)) {
      const Rect room = clearance(columns_, kind, x, width);
      if (room.height() < height * 0.95f) continue;  // letters are lower than their line
      const float y = sheet_.snap(room.center_y() - height * 0.5f);
      places.push_back({{x, y, x + width, y + height}, still ? 0 : std::min(room.height(), 3 * height)});
    }
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.room > b.room; });
    std::vector<Rect> candidates;
    for (const Place& place : places) candidates.push_back(place.box);
    const auto box = placer_.place_inside(candidates);
    if (!box) return false;
    const KindColors& colors = palette_.kinds[static_cast<std::size_t>(kind)];
    const Color on = is_quiet(sheet_.frame(), figure_, kind) ? colors.on_quiet : colors.on_fill;
    // From the letters' tops down: the edge of the kind may run right above them.
    const Rect patch{box->x0, box->y0 + 0.15f * box->height(), box->x1, box->y1};
    sheet_.fill(Layer::kLabels, patch, fill_of(sheet_.frame(), figure_, kind), sheet_.px(2));
    const Rect text = sheet_.text(Layer::kLabels, kStrongType, on, name, box->x0 + pad_x(), box->y0);
    if (extra > 0) {
      sheet_.text(Layer::kLabels, kLabelType, on, value_of(columns_.front(), kind), text.x1 + sheet_.px(8), box->y0);
    }
    return true;
  }

  struct Leader {
    Rect label;
    Point dot, end;

    float length() const { return std::abs(dot.x - end.x) + std::abs(dot.y - end.y); }
    Rect line() const {
      return {std::min(dot.x, end.x) - 1, std::min(dot.y, end.y) - 1, std::max(dot.x, end.x) + 1,
              std::max(dot.y, end.y) + 1};
    }
  };

  // Columns where the kind is thick enough to be pointed at, the thickest first; few, spread over the plot.
  std::vector<const PxColumn*> anchors(int kind) const {
    std::vector<const PxColumn*> all;
    for (const PxColumn& column : columns_) {
      if (column.thickness(kind) >= sheet_.px(3)) all.push_back(&column);
    }
    std::stable_sort(all.begin(), all.end(),
                     [kind](const PxColumn* a, const PxColumn* b) { return a->thickness(kind) > b->thickness(kind); });
    std::vector<const PxColumn*> few;
    for (const PxColumn* column : all) {
      const bool near = std::any_of(few.begin(), few.end(), [&](const PxColumn* other) {
        return std::abs(other->x0 - column->x0) < sheet_.px(24);
      });
      if (!near) few.push_back(column);
      if (few.size() == 16) break;
    }
    return few;
  }

  // Right or left of the dot at its height, else above it.
  std::vector<Leader> leaders(const PxColumn& column, int kind, const std::string& text) const {
    const Rect band = column.of(kind), size = box_at(kStrongType, text, 0, 0);
    const Point dot{sheet_.snap((band.x0 + band.x1) * 0.5f), sheet_.snap(band.center_y())};
    std::vector<Leader> all;
    for (const float away : {14.0f, 24.0f, 40.0f, 64.0f}) {
      const float dx = sheet_.px(away), top = dot.y - size.height() * 0.5f;
      all.push_back({box_at(kStrongType, text, dot.x + dx, top), dot, {dot.x + dx, dot.y}});
      all.push_back({box_at(kStrongType, text, dot.x - dx - size.width(), top), dot, {dot.x - dx, dot.y}});
    }
    for (const float up : {10.0f, 16.0f, 24.0f, 34.0f, 46.0f, 60.0f}) {
      for (const float share : {0.5f, 0.2f, 0.8f}) {
        const float bottom = column.top() - sheet_.px(up);
        all.push_back({box_at(kStrongType, text, sheet_.snap(dot.x - size.width() * share), bottom - size.height()),
                       dot,
                       {dot.x, bottom}});
      }
    }
    return all;
  }

  // The shortest way out counts, a label that covers no line, and a dot where the kind is thick.
  void with_leader(int kind) {
    const std::vector<const PxColumn*> columns = anchors(kind);
    std::optional<Leader> best;
    const PxColumn* at = nullptr;
    float least = 0;
    const float longest = std::max(sheet_.px(60), map_.plot.height() * 0.3f);
    for (const PxColumn* column : columns) {
      const float thin = 1 - column->thickness(kind) / columns.front()->thickness(kind);
      for (const Leader& leader : leaders(*column, kind, name_of_kind(kind) + " " + value_of(*column, kind))) {
        if (!placer_.is_free(leader.label) || !placer_.clear_of_data(leader.label)) continue;
        if (!placer_.is_free(leader.line()) || leader.length() > longest) continue;
        float cost = leader.length() + sheet_.px(80) * thin;
        if (placer_.crosses_line(leader.label)) cost += sheet_.px(60);
        if (placer_.crosses_line(leader.line())) cost += sheet_.px(30);
        if (best && cost >= least) continue;
        best = leader;
        at = column;
        least = cost;
      }
    }
    if (best) draw_leader(*best, name_of_kind(kind) + " " + value_of(*at, kind));
  }

  void draw_leader(const Leader& leader, const std::string& text) {
    const float width = sheet_.line_px(1);
    sheet_.add(Layer::kLabels, Polyline{.points = {leader.dot, leader.end}, .color = palette_.text, .width = width});
    sheet_.add(Layer::kLabels,
               Disc{.center = leader.dot, .radius = sheet_.px(2.5f), .fill = palette_.text, .stroke = {}});
    put(leader.label, kStrongType, palette_.text, palette_.well, text);
    placer_.take(leader.label);
    placer_.take(leader.line());
  }

  Sheet& sheet_;
  const Palette& palette_;
  const FigureData& figure_;
  const PlotMap& map_;
  const std::vector<PxColumn>& columns_;
  ByteUnit unit_;
  LabelPlacer placer_;
  std::vector<std::vector<Rect>> line_rects_;  // of each of the figure's lines
};

}  // namespace

std::vector<bool> lay_out_labels(Sheet& sheet, const FigureData& figure, const PlotMap& map,
                                 const std::vector<PxColumn>& columns) {
  return PlotLabels(sheet, figure, map, columns).draw();
}

}  // namespace headroom::app::paint
