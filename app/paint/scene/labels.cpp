#include "app/paint/scene/labels.h"

#include <algorithm>

namespace headroom::app::paint {

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
  if (beyond) span.second = area_.y1;  // at its ends the data's edge drops to the axis
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
