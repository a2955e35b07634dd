// The column at the right end of the settings: Run with its estimate and its progress, and the pin.
#pragma once

#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

void draw_run(PageFrame& frame, Rect rect);
// Where nothing can be run: why, and the cure, as far as there is room; all of it at the mouse.
void draw_no_engine(const PageFrame& frame, Rect rect, std::string_view head = "No engine. ");
// The run on show becomes run A, against which the next ones are seen.
void draw_pin(PageFrame& frame, Rect rect);

}  // namespace headroom::app::window
