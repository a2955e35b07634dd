// Under the figure: the peak of the step with the page's settings, whether it fits on a card, up to which batch, and the
// techniques as switches, each with what it changes now.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// px at scale 1; 0: nothing is to be said.
float verdict_height(PageFrame& frame);
void draw_verdict(PageFrame& frame, const Rect& rect);

// The page's card by name, at the right end of a row; returns where it begins. A CPU is what it is.
float draw_card_choice(page::PageModel& page, const Rect& row);
float card_choice_width(const page::PageModel& page);

}  // namespace headroom::app::window
