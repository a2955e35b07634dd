#include "app/paint/layout/plot_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "lessons/names.h"

namespace headroom::app::paint {
namespace {

class KindLabels {
 public:
  KindLabels(LabelPen& pen, const lessons::Timeline& timeline, const std::vector<PxColumn>& columns, const PlotMap& map,
             const ShownUnit& unit)
      : pen_(pen),
        sheet_(pen.sheet()),
        palette_(sheet_.palette()),
        placer_(pen.placer()),
        timeline_(timeline),
        columns_(columns),
        map_(map),
        unit_(unit) {}

  // Returns the kinds that have no name.
  std::vector<std::string> draw(const std::vector<EdgeName>& outside) {
    std::vector<std::string> left_out;
    if (columns_.empty()) return left_out;
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
      const auto names = [kind](const EdgeName& name) { return name.kind == kind; };
      if (std::any_of(outside.begin(), outside.end(), names)) continue;
      if (most_of(kind) == 0) continue;
      const bool seen = thickest[static_cast<std::size_t>(kind)] >= sheet_.px(4);
      if (!seen || (!inside(kind) && !with_leader(kind)))
        left_out.push_back(name_of_kind(kind) + ", at most " + lessons::bytes_text(most_of(kind), unit_));
    }
    return left_out;
  }

 private:
  std::string name_of_kind(int kind) const {
    std::string name = lessons::capitalised(record::label_of(static_cast<record::Category>(kind)));
    const std::string_view passing = timeline_.passing[static_cast<std::size_t>(kind)];
    return passing.empty() ? name : name + " (hatched: " + std::string(passing) + ")";
  }

  record::Bytes most_of(int kind) const {
    record::Bytes most = 0;
    for (const lessons::StackColumn& column : timeline_.stack)
      most = std::max(most, column.high[static_cast<std::size_t>(kind)]);
    return most;
  }

  std::string value_of(const PxColumn& column, int kind) const {
    return in_unit(static_cast<double>(column.source->high[static_cast<std::size_t>(kind)]), unit_, 2);
  }

  // A static kind is named at its left end with its size, a moving kind where it is thickest.
  bool inside(int kind) {
    const std::string name = name_of_kind(kind);
    const bool still = timeline_.quiet[static_cast<std::size_t>(kind)];
    const float value_width = still ? sheet_.px(8) + sheet_.width(kLabelType, value_of(columns_.front(), kind)) : 0;
    return (still && inside(kind, name, value_width)) || inside(kind, name, 0);
  }

  bool inside(int kind, const std::string& name, float extra) {
    const float width = pen_.box_at(kStrongType, name, 0, 0).width() + extra, height = sheet_.height(kStrongType);
    const bool still = timeline_.quiet[static_cast<std::size_t>(kind)];
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
    // The patch starts at the letters' tops: the kind's edge may run right above.
    const auto patch_of = [](Rect box) { return Rect{box.x0, box.y0 + 0.15f * box.height(), box.x1, box.y1}; };
    const auto place = std::find_if(places.begin(), places.end(), [&](const Place& at) {
      return placer_.is_free(at.box) && !placer_.crosses_line(patch_of(at.box));
    });
    if (place == places.end()) return false;
    const Rect& box = place->box;
    placer_.take(box);
    const KindColors& colors = palette_.kinds[static_cast<std::size_t>(kind)];
    const Color on = is_quiet(sheet_.frame(), timeline_, kind) ? colors.on_quiet : colors.on_fill;
    sheet_.fill(Layer::kLabels, patch_of(box), fill_of(sheet_.frame(), timeline_, kind), sheet_.px(2));
    const Rect text = sheet_.text(Layer::kLabels, kStrongType, on, name, box.x0 + pen_.pad_x(), box.y0);
    if (extra > 0) {
      sheet_.text(Layer::kLabels, kLabelType, on, value_of(columns_.front(), kind), text.x1 + sheet_.px(8), box.y0);
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

  // A few columns spread over the plot, those in which the kind is thickest first.
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

  std::vector<Leader> leaders(const PxColumn& column, int kind, const std::string& text) const {
    const Rect band = column.of(kind), size = pen_.box_at(kStrongType, text, 0, 0);
    const Point dot{sheet_.snap((band.x0 + band.x1) * 0.5f), sheet_.snap(band.center_y())};
    std::vector<Leader> all;
    for (const float away : {14.0f, 24.0f, 40.0f, 64.0f}) {
      const float dx = sheet_.px(away), top = dot.y - size.height() * 0.5f;
      all.push_back({pen_.box_at(kStrongType, text, dot.x + dx, top), dot, {dot.x + dx, dot.y}});
      all.push_back({pen_.box_at(kStrongType, text, dot.x - dx - size.width(), top), dot, {dot.x - dx, dot.y}});
    }
    for (const float up : {10.0f, 16.0f, 24.0f, 34.0f, 46.0f, 60.0f}) {
      for (const float share : {0.5f, 0.2f, 0.8f}) {
        const float bottom = column.top() - sheet_.px(up);
        all.push_back(
            {pen_.box_at(kStrongType, text, sheet_.snap(dot.x - size.width() * share), bottom - size.height()),
             dot,
             {dot.x, bottom}});
      }
    }
    return all;
  }

  // Prefers a short leader that crosses no line and starts where the kind is thick.
  bool with_leader(int kind) {
    const std::vector<const PxColumn*> columns = anchors(kind);
    std::optional<Leader> best;
    const PxColumn* at = nullptr;
    float least = 0;
    const float longest = std::max(sheet_.px(60), map_.plot.height() * 0.3f);
    for (const PxColumn* column : columns) {
      const float thin = 1 - column->thickness(kind) / columns.front()->thickness(kind);
      for (const Leader& leader : leaders(*column, kind, name_of_kind(kind) + " " + value_of(*column, kind))) {
        if (!placer_.is_free(leader.label) || placer_.crosses_line(leader.label)) continue;
        if (!placer_.clear_of_data(leader.label)) continue;
        if (!placer_.is_free(leader.line()) || leader.length() > longest) continue;
        float cost = leader.length() + sheet_.px(80) * thin;
        if (placer_.crosses_line(leader.line())) cost += sheet_.px(30);
        if (best && cost >= least) continue;
        best = leader;
        at = column;
        least = cost;
      }
    }
    if (best) draw_leader(*best, name_of_kind(kind) + " " + value_of(*at, kind));
    return best.has_value();
  }

  void draw_leader(const Leader& leader, const std::string& text) {
    const float width = sheet_.line_px(1);
    sheet_.line(Layer::kLabels, {leader.dot, leader.end}, palette_.text, width);
    sheet_.add(Layer::kLabels,
               Disc{.center = leader.dot, .radius = sheet_.px(2.5f), .fill = palette_.text, .stroke = {}});
    pen_.put(leader.label, kStrongType, palette_.text, palette_.well, text);
    placer_.take(leader.label);
    placer_.take(leader.line());
  }

  LabelPen& pen_;
  Sheet& sheet_;
  const Palette& palette_;
  LabelPlacer& placer_;
  const lessons::Timeline& timeline_;
  const std::vector<PxColumn>& columns_;
  const PlotMap& map_;
  const ShownUnit unit_;
};

constexpr float kEdgeGap = 12;          // px at scale 1, from the plot to a name
constexpr float kLeastNamedPlot = 420;  // px at scale 1: names stay inside narrower plots

}  // namespace

std::vector<EdgeName> edge_names(const Sheet& sheet, const lessons::Timeline& timeline, float height, float width) {
  std::vector<EdgeName> names;
  if (timeline.stack.empty() || timeline.hidden_from || width < sheet.px(kLeastNamedPlot)) return names;
  const lessons::StackColumn& end = timeline.stack.back();
  if (end.end < timeline.x.high - 0.03 * (timeline.x.high - timeline.x.low)) return names;
  const auto px_of = [&](record::Bytes bytes) {
    return static_cast<float>(static_cast<double>(bytes) / (timeline.y.high - timeline.y.low)) * height;
  };
  const ShownUnit unit = lessons::unit_of(timeline.y);
  for (int kind = 0; kind < record::kNumCategories; ++kind) {
    const auto k = static_cast<std::size_t>(kind);
    record::Bytes most = 0;
    for (const lessons::StackColumn& column : timeline.stack) most = std::max(most, column.high[k]);
    if (px_of(most) >= sheet.height(kStrongType) || px_of(end.high[k]) < sheet.px(2)) continue;
    names.push_back({kind, lessons::capitalised(record::label_of(static_cast<record::Category>(kind))) + " " +
                               in_unit(static_cast<double>(end.high[k]), unit, 2)});
  }
  return names;
}

float width_of(const Sheet& sheet, const std::vector<EdgeName>& names) {
  float width = 0;
  for (const EdgeName& name : names) width = std::max(width, sheet.width(kMediumType, name.text));
  return names.empty() ? 0 : width + sheet.px(kEdgeGap);
}

void lay_out_edge_names(Sheet& sheet, const std::vector<EdgeName>& names, const std::vector<PxColumn>& columns,
                        const PlotMap& map) {
  if (columns.empty()) return;
  const float line = sheet.height(kMediumType);
  float lowest = map.plot.y1 - line * 0.5f;  // middle of the next name; names are placed bottom up
  for (const EdgeName& name : names) {
    const float band = columns.back().of(name.kind).center_y(), middle = std::min(band, lowest);
    lowest = middle - line;
    const float width = sheet.line_px(1);
    sheet.line(Layer::kAxes, {{map.plot.x1 + sheet.px(1), band}, {map.plot.x1 + sheet.px(kEdgeGap - 3), middle}},
               sheet.palette().of(static_cast<record::Category>(name.kind)).edge, 2 * width);
    sheet.text_mid(Layer::kLabels, kMediumType, sheet.palette().text, name.text, map.plot.x1 + sheet.px(kEdgeGap),
                   middle);
  }
}

std::vector<std::string> label_kinds(LabelPen& pen, const lessons::Timeline& timeline,
                                     const std::vector<PxColumn>& columns, const PlotMap& map, const ShownUnit& unit,
                                     const std::vector<EdgeName>& outside) {
  return KindLabels(pen, timeline, columns, map, unit).draw(outside);
}

bool LabelPlacer::is_free(Rect box) const {
  return box.inside(area_) && std::none_of(taken_.begin(), taken_.end(), [&](const Rect& t) { return t.meets(box); });
}

bool LabelPlacer::crosses_line(Rect box) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Rect& line) { return line.meets(box); });
}

std::pair<float, float> LabelPlacer::tops_over(Rect box) const {
  const auto first =
      std::lower_bound(tops_.begin(), tops_.end(), box.x0, [](const Rect& top, float x) { return top.x1 <= x; });
  std::pair<float, float> span{area_.y1, area_.y0};
  for (auto top = first; top != tops_.end() && top->x0 < box.x1; ++top) {
    span = {std::min(span.first, top->y0), std::max(span.second, top->y0)};
  }
  const bool beyond = tops_.empty() || box.x0 < tops_.front().x0 || box.x1 > tops_.back().x1;
  if (beyond) span.second = area_.y1;  // at both ends of the data, its edge drops to the axis
  return span;
}

bool LabelPlacer::clear_of_data(Rect box) const { return tops_over(box).first >= box.y1; }

bool LabelPlacer::clear_of_edge(Rect box) const {
  const auto [highest, lowest] = tops_over(box);
  return highest >= box.y1 || lowest <= box.y0;
}

std::optional<Rect> LabelPlacer::place(const std::vector<Rect>& candidates) {
  for (const auto clear : {&LabelPlacer::clear_of_data, &LabelPlacer::clear_of_edge}) {
    for (const Rect& box : candidates) {
      if (!is_free(box) || crosses_line(box) || !(this->*clear)(box)) continue;
      take(box);
      return box;
    }
  }
  return std::nullopt;
}

}  // namespace headroom::app::paint
