// Finds places for labels in a plot so that no two of them meet and none covers a curve: a label that finds no place is
// left out.
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

  // Never covered by a label; what has found its place belongs to it.
  void take(Rect box) { taken_.push_back(box); }
  // A piece of a curve: never covered, though it may be crossed by a label's thin line to its mark.
  void avoid(Rect box) { lines_.push_back(box); }
  // The upper edge of the data from x0 to x1, by ascending x: a label is above it, or wholly below.
  void data_top(float x0, float x1, float y) { tops_.push_back({x0, y, x1, y}); }

  bool is_free(Rect box) const;
  bool crosses_line(Rect box) const;
  bool clear_of_data(Rect box) const;
  // Clear of the data, or covering nothing but its fill.
  bool clear_of_edge(Rect box) const;

  // The first of the candidates that covers no curve and is clear of the data; failing that the first that is clear of
  // the data's edge. It is taken.
  std::optional<Rect> place(const std::vector<Rect>& candidates);

 private:
  // The highest and the lowest upper edge of the data above and below the box.
  std::pair<float, float> tops_over(Rect box) const;

  Rect area_;
  std::vector<Rect> taken_;
  std::vector<Rect> lines_;
  std::vector<Rect> tops_;
};

}  // namespace headroom::app::paint
