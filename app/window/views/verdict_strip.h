// Below the figure: the step's peak, whether and up to which batch it fits on a card, and the techniques as switches.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// px at scale 1; 0: nothing to say.
float verdict_height(PageFrame& frame);
void draw_verdict(PageFrame& frame, const Rect& rect);

// The page's card at the right end of a row, or the CPU as text. Returns the left edge.
float draw_card_choice(page::PageModel& page, const Rect& row);
float card_choice_width(const page::PageModel& page);

}  // namespace headroom::app::window
