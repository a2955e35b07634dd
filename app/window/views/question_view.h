// The page's question: its card while open, and the reply.
#pragma once

#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// The question, the awaited answer or the reply; nothing if the page asks nothing.
void draw_question(PageFrame& frame);

// Called for Enter and for the button.
void lock_answer(PageFrame& frame);

}  // namespace headroom::app::window
