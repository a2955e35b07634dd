// Under the figure: the peak of the step with the page's settings, whether it fits on a card, up to which batch, and the
// techniques as switches, each with what it changes now.
#pragma once

#include <vector>

#include "app/page/ways_out.h"
#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// px at scale 1; 0: nothing is to be said.
float verdict_height(const PageFrame& frame);
void draw_verdict(PageFrame& frame, const Rect& rect);
// The switches that change something, in the order in which they are drawn.
std::vector<const page::WayOut*> shown_ways(const page::PageModel& page);

}  // namespace headroom::app::window
