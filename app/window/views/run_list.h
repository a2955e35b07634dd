// The current run's machine and settings, and a list of the others.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// True if there are other runs, and looking at them gives no answer away.
bool runs_to_choose(const page::PageModel& page);
// The width of "3 runs" and an arrow.
float run_choice_width(const page::PageModel& page);
void draw_run_choice(PageFrame& frame, const Rect& rect);

}  // namespace headroom::app::window
