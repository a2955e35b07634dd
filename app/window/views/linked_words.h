// Words of a page whose links act on it.
#pragma once

#include "app/window/views/page_frame.h"
#include "lessons/pages/words.h"

namespace headroom::app::window {

// At the cursor, as Markdown::render(). What a link does is done at once; why a setting is refused becomes the page's
// notice.
void draw_linked(PageFrame& frame, const lessons::MarkedText& words, float em, float line);

}  // namespace headroom::app::window
