// The page's task among the words of its tour.
#pragma once

#include "app/page/page_text.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// A card at the cursor: the task, its progress, and finally what it shows.
void draw_task(PageFrame& frame, const page::TaskWords& task);

}  // namespace headroom::app::window
