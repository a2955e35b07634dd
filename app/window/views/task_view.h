// The page's task among the words of its tour.
#pragma once

#include "app/window/views/page_frame.h"
#include "lessons/pages/words.h"

namespace headroom::app::window {

// A card at the cursor: the task, its progress, and finally what it shows.
void draw_task(PageFrame& frame, const lessons::MarkedText& words);

}  // namespace headroom::app::window
