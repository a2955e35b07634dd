// The reading side of a page: words, question, answer, notices, and the way to the next page.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// Says where the reader wants to go.
Turn draw_text_column(PageFrame& frame, const Rect& rect);

// What went wrong, if anything did, at the top of a rectangle. Returns where the rest begins.
float draw_notice(const PageFrame& frame, const Rect& at);

}  // namespace headroom::app::window
