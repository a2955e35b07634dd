// Places labels in a plot without overlaps. A label without a free place is dropped.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

class LabelPlacer {
 public:
  // Labels stay inside `area`.
  explicit LabelPlacer(Rect area) : area_(area) {}

  // No label covers this box.
  void take(Rect box) { taken_.push_back(box); }
  // A piece of a curve. No label covers it, but leader lines may cross it.
  void avoid(Rect box) { lines_.push_back(box); }
  // The data's upper edge from x0 to x1, in ascending x.
  void data_top(float x0, float x1, float y) { tops_.push_back({x0, y, x1, y}); }

  bool is_free(Rect box) const;
  bool crosses_line(Rect box) const;
  bool clear_of_data(Rect box) const;
  // Clear of the data, or wholly inside its fill.
  bool clear_of_edge(Rect box) const;

  // Returns and reserves the first candidate that covers no curve and is clear of the data, or else clear of its edge.
  std::optional<Rect> place(const std::vector<Rect>& candidates);

 private:
  // The data's highest and lowest upper edge over the box's x range.
  std::pair<float, float> tops_over(Rect box) const;

  Rect area_;
  std::vector<Rect> taken_;
  std::vector<Rect> lines_;
  std::vector<Rect> tops_;
};

}  // namespace headroom::app::paint
