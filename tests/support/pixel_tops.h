// The upper edge of a timeline's stack, and of a line over it, at each pixel of a plot.
#pragma once

#include <cstddef>
#include <vector>

#include "app/paint/layout/plot_parts.h"
#include "app/paint/scene/stack.h"

namespace headroom::tests {

inline app::paint::PlotMap map_of(const lessons::Timeline& timeline, int width) {
  return {.plot = {40, 20, 40 + static_cast<float>(width), 320}, .x = timeline.x, .y = timeline.y};
}

inline std::vector<float> tops_of_stack(const lessons::Timeline& timeline, int width) {
  std::vector<float> tops;
  for (const app::paint::PxColumn& column : app::paint::px_columns(timeline, map_of(timeline, width), true))
    tops.insert(tops.end(), static_cast<std::size_t>(column.x1 - column.x0), column.top());
  return tops;
}

inline std::vector<float> tops_of_line(const lessons::Timeline& timeline, const lessons::StepLine& line, int width) {
  std::vector<float> tops;
  const std::vector<app::paint::Point> points = app::paint::step_points(line, map_of(timeline, width), true, 0);
  for (std::size_t i = 0; i + 1 < points.size(); i += 2)
    tops.insert(tops.end(), static_cast<std::size_t>(points[i + 1].x - points[i].x), points[i].y);
  return tops;
}

}  // namespace headroom::tests
