// On stage: from screen to screen, and what covers the picture.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// An open question is revealed, with the guess where there is one; then come the steps; then the next page.
Turn next_screen(PageFrame& frame);
Turn screen_before(PageFrame& frame);
// A larger batch (+1) or a smaller one (−1), where the page has one and no question is open.
void move_main_slider(page::PageModel& page, int direction);

// A blank screen, or all but a circle at the mouse in shade.
void draw_over_stage(const UiState& ui, const Rect& window);

}  // namespace headroom::app::window
