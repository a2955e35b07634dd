// Compares run B with run A, below the figure.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// px at scale 1; 0: nothing to compare.
float comparison_height(const PageFrame& frame);
// Wide pages show both runs and the difference, others only the changes.
void draw_comparison(PageFrame& frame, const Rect& rect);

}  // namespace headroom::app::window
