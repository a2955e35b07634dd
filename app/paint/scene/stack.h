// The stack of a timeline in px.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

// Neighboring figure columns that look the same, as one column. Kind k spans y[k] (bottom) to y[k + 1] (top).
struct PxColumn {
  float x0 = 0, x1 = 0;
  std::array<float, record::kNumCategories + 1> y{};
  std::array<float, record::kNumCategories> passing{};  // bottom of the kind's passing part, which ends at its top
  const lessons::StackColumn* source = nullptr;

  float top() const { return y.back(); }
  float thickness(int kind) const { return y[static_cast<std::size_t>(kind)] - y[static_cast<std::size_t>(kind) + 1]; }
  Rect of(int kind) const { return {x0, y[static_cast<std::size_t>(kind) + 1], x1, y[static_cast<std::size_t>(kind)]}; }
  Rect passing_of(int kind) const {
    return {x0, y[static_cast<std::size_t>(kind) + 1], x1, passing[static_cast<std::size_t>(kind)]};
  }
};

// The pixels [first, last) of a plot, from its left edge, that [begin, end) of its axis covers: at least one.
struct PixelRange {
  std::size_t first = 0, last = 0;
};
PixelRange pixels_of(const PlotMap& map, double begin, double end);
std::size_t pixels_in(const PlotMap& map);

// Columns in ascending x. `whole_pixels` keeps the highest column of each pixel, so that no peak vanishes.
std::vector<PxColumn> px_columns(const lessons::Timeline& timeline, const PlotMap& map, bool whole_pixels);

// The largest rectangle inside a kind that spans [x, x + width); empty if none.
Rect clearance(const std::vector<PxColumn>& columns, int kind, float x, float width);

}  // namespace headroom::app::paint
