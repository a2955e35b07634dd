// Run B against run A, below the figure.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// px at scale 1; 0: there is nothing to compare.
float comparison_height(const PageFrame& frame);
// Wide: both runs and the difference, a line each. Else one line: what changed.
void draw_comparison(PageFrame& frame, const Rect& rect);

}  // namespace headroom::app::window
