// The column right of the settings: Run with its estimate and progress, and the pin.
#pragma once

#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

void draw_run(PageFrame& frame, Rect rect);
// Why nothing can run and what to do, as far as it fits; all of it in a tooltip.
void draw_no_engine(const PageFrame& frame, Rect rect, std::string_view head = "No engine. ");
// Makes the current run A, to compare later ones with.
void draw_pin(PageFrame& frame, Rect rect);

}  // namespace headroom::app::window
