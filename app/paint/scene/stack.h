// The stack of a timeline in px.
#pragma once

#include <array>
#include <vector>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

// One or more columns of the figure that look the same. Kind k is between y[k] (below) and y[k + 1] (above).
struct PxColumn {
  float x0 = 0, x1 = 0;
  std::array<float, record::kNumCategories + 1> y{};
  const lessons::StackColumn* source = nullptr;

  float top() const { return y.back(); }
  float thickness(int kind) const { return y[static_cast<std::size_t>(kind)] - y[static_cast<std::size_t>(kind) + 1]; }
  Rect of(int kind) const { return {x0, y[static_cast<std::size_t>(kind) + 1], x1, y[static_cast<std::size_t>(kind)]}; }
};

// By ascending x. On whole pixels, of several columns in one pixel the highest is kept: a peak never vanishes.
std::vector<PxColumn> px_columns(const lessons::Timeline& timeline, const PlotMap& map, bool whole_pixels);

// The largest height that kind `kind` has free over the whole of [x, x + width), and where; empty if it is not there.
Rect clearance(const std::vector<PxColumn>& columns, int kind, float x, float width);

}  // namespace headroom::app::paint
