// Words with links that act on the page.
#pragma once

#include "app/window/views/page_frame.h"
#include "lessons/pages/words.h"

namespace headroom::app::window {

// Renders at the cursor. Links act at once; a refused setting becomes the page's notice.
void draw_linked(PageFrame& frame, const lessons::MarkedText& words, float em, float line);

}  // namespace headroom::app::window
