// The labels of a timeline. Kinds of memory are named inside their bands or next to them with a leader line.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/layout/plot_parts.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// Places labels in a plot without overlaps.
class LabelPlacer {
 public:
  // Labels stay inside `area`.
  explicit LabelPlacer(Rect area) : area_(area) {}

  // No label covers this box.
  void take(Rect box) { taken_.push_back(box); }
  // A piece of a curve. No label covers it, but leader lines may cross it.
  void avoid(Rect box) { lines_.push_back(box); }
  // Adds the data's upper edge from x0 to x1, in ascending x.
  void data_top(float x0, float x1, float y) { tops_.push_back({x0, y, x1, y}); }

  bool is_free(Rect box) const;
  bool crosses_line(Rect box) const;
  bool clear_of_data(Rect box) const;
  // True if clear of the data, or wholly inside its fill.
  bool clear_of_edge(Rect box) const;

  // Returns and reserves the first candidate that is clear of the data, else the first clear of the data's edge;
  // neither may cover a curve.
  std::optional<Rect> place(const std::vector<Rect>& candidates);

 private:
  // The data's highest and lowest upper edge within the box's x range.
  std::pair<float, float> tops_over(Rect box) const;

  Rect area_;
  std::vector<Rect> taken_;
  std::vector<Rect> lines_;
  std::vector<Rect> tops_;
};

// Draws a plot's labels and reserves their space.
class LabelPen {
 public:
  LabelPen(Sheet& sheet, const Rect& plot) : sheet_(sheet), placer_(plot) {}

  Sheet& sheet() { return sheet_; }
  LabelPlacer& placer() { return placer_; }
  float pad_x() const { return sheet_.px(4); }

  // A label's box including its patch, with the upper left corner at (x, y).
  Rect box_at(Type type, const std::string& text, float x, float y) const {
    return {x, y, x + sheet_.width(type, text) + 2 * pad_x(), y + sheet_.height(type) + 2 * pad_y()};
  }

  void put(const Rect& box, Type type, Color color, Color patch, const std::string& text) {
    sheet_.fill(Layer::kLabels, box, patch, sheet_.px(3));
    sheet_.text(Layer::kLabels, type, color, text, box.x0 + pad_x(), box.y0 + pad_y());
  }

  // Returns false if there is no place.
  bool place(const std::vector<Rect>& candidates, Type type, Color color, const std::string& text) {
    const auto box = placer_.place(candidates);
    if (box) put(*box, type, color, sheet_.palette().well, text);
    return box.has_value();
  }

 private:
  float pad_y() const { return sheet_.px(1); }

  Sheet& sheet_;
  LabelPlacer placer_;
};

// A kind too thin for its name is named outside the plot's right end if it is visible there.
struct EdgeName {
  int kind = 0;
  std::string text;  // "Weights 15.26"
};
// Empty if the data ends before the plot or there is no room.
std::vector<EdgeName> edge_names(const Sheet& sheet, const lessons::Timeline& timeline, float height, float width);
// The width of the names; 0 if there are none.
float width_of(const Sheet& sheet, const std::vector<EdgeName>& names);
void lay_out_edge_names(Sheet& sheet, const std::vector<EdgeName>& names, const std::vector<PxColumn>& columns,
                        const PlotMap& map);

// Names the thickest kinds first, except those named outside. Returns the names without a place or too thin to be seen.
std::vector<std::string> label_kinds(LabelPen& pen, const lessons::Timeline& timeline,
                                     const std::vector<PxColumn>& columns, const PlotMap& map, const ShownUnit& unit,
                                     const std::vector<EdgeName>& outside);

struct PlotNames {
  std::vector<bool> lines;                 // to be drawn: reserved and process lines only with their label
  std::vector<std::string> kinds, labels;  // without a place
};
// Places the labels of a timeline. By priority: guess, failed request, limit, peak, run A's peak, lines, kinds of
// memory (largest first).
PlotNames lay_out_labels(Sheet& sheet, const lessons::FigureHead& head, const lessons::Timeline& timeline,
                         const PlotMap& map, const std::vector<PxColumn>& columns,
                         const std::vector<EdgeName>& outside);

}  // namespace headroom::app::paint
