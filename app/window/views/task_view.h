// The page's task among the words of its tour.
#pragma once

#include "app/page/page_text.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// A card at the cursor: what to do, how far it is, and once it is reached what that shows.
void draw_task(PageFrame& frame, const page::TaskWords& task);

}  // namespace headroom::app::window
