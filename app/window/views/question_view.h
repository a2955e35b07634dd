// The page's question: its card while it is open, and what became of the answer.
#pragma once

#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// The question, the answer that is waited for, or the reply. Nothing where the page asks nothing.
void draw_question(PageFrame& frame);

// Enter and the button do the same.
void lock_answer(PageFrame& frame);

}  // namespace headroom::app::window
