// Columns as outlines: neighbors become one shape, so that no seam shows between them.
#pragma once

#include <vector>

#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

// One closed shape for each row of rectangles that touch: along the tops to the right, back along the bottoms.
std::vector<std::vector<Point>> outlines_of(const std::vector<Rect>& rects);

}  // namespace headroom::app::paint
