// Merges touching columns into one outline, so that no seam shows.
#pragma once

#include <vector>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

// One closed outline per run of touching rectangles.
std::vector<std::vector<Point>> outlines_of(const std::vector<Rect>& rects);

}  // namespace headroom::app::paint
