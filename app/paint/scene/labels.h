// Finds places for labels in a plot so that no two of them meet: a label that finds no place is left out.
#pragma once

#include <optional>
#include <vector>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

class LabelPlacer {
 public:
  // Labels stay inside `area`.
  explicit LabelPlacer(Rect area) : area_(area) {}

  // Never covered by a label; what has found its place belongs to it.
  void take(Rect box) { taken_.push_back(box); }
  // Covered only if there is no better place: lines.
  void avoid(Rect box) { lines_.push_back(box); }
  // The upper edge of the data from x0 to x1: labels stand above it as long as they can.
  void data_top(float x0, float x1, float y) { tops_.push_back({x0, y, x1, y}); }

  bool is_free(Rect box) const;
  bool crosses_line(Rect box) const;
  bool clear_of_data(Rect box) const;

  // The first of the candidates that is free and clear of lines and data; failing that free and clear of data; failing
  // that (`cover_data`) free. It is taken.
  std::optional<Rect> place(const std::vector<Rect>& candidates, bool cover_data);
  // For labels inside the data: the first that is free, better one that no line crosses. It is taken.
  std::optional<Rect> place_inside(const std::vector<Rect>& candidates);

 private:
  template <class Suits>
  std::optional<Rect> take_first(const std::vector<Rect>& candidates, Suits suits);

  Rect area_;
  std::vector<Rect> taken_;
  std::vector<Rect> lines_;
  std::vector<Rect> tops_;  // by ascending x
};

}  // namespace headroom::app::paint
