// On stage: moves from screen to screen and covers the picture.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// An open question is revealed, with any guess; then come the steps and the next page.
Turn next_screen(PageFrame& frame);
Turn screen_before(PageFrame& frame);
// A larger (+1) or smaller (−1) batch, if the page has one and no question is open.
void move_main_slider(page::PageModel& page, int direction);

// A blank screen, or shade around a circle at the mouse.
void draw_over_stage(const UiState& ui, const Rect& window);

}  // namespace headroom::app::window
