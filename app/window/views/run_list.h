// Which run is looked at: what it ran on and how, and the others in a list.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// Where there is more than one run to look at, and looking gives no answer away.
bool runs_to_choose(const page::PageModel& page);
// The least width of the choice: "3 runs" and an arrow.
float run_choice_width(const page::PageModel& page);
void draw_run_choice(PageFrame& frame, const Rect& rect);

}  // namespace headroom::app::window
