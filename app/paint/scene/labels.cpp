#include "app/paint/scene/labels.h"

#include <algorithm>

namespace headroom::app::paint {

bool LabelPlacer::is_free(Rect box) const {
  return box.inside(area_) && std::none_of(taken_.begin(), taken_.end(), [&](const Rect& t) { return t.meets(box); });
}

bool LabelPlacer::crosses_line(Rect box) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Rect& line) { return line.meets(box); });
}

bool LabelPlacer::clear_of_data(Rect box) const {
  const auto first =
      std::lower_bound(tops_.begin(), tops_.end(), box.x0, [](const Rect& top, float x) { return top.x1 <= x; });
  for (auto top = first; top != tops_.end() && top->x0 < box.x1; ++top) {
    if (top->y0 < box.y1) return false;
  }
  return true;
}

template <class Suits>
std::optional<Rect> LabelPlacer::take_first(const std::vector<Rect>& candidates, Suits suits) {
  for (const Rect& box : candidates) {
    if (!is_free(box) || !suits(box)) continue;
    take(box);
    return box;
  }
  return std::nullopt;
}

std::optional<Rect> LabelPlacer::place(const std::vector<Rect>& candidates, bool cover_data) {
  auto found = take_first(candidates, [&](const Rect& box) { return clear_of_data(box) && !crosses_line(box); });
  if (!found) found = take_first(candidates, [&](const Rect& box) { return clear_of_data(box); });
  if (!found && cover_data) found = take_first(candidates, [](const Rect&) { return true; });
  return found;
}

std::optional<Rect> LabelPlacer::place_inside(const std::vector<Rect>& candidates) {
  auto found = take_first(candidates, [&](const Rect& box) { return !crosses_line(box); });
  return found ? found : take_first(candidates, [](const Rect&) { return true; });
}

}  // namespace headroom::app::paint
