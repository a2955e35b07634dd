// Draws the blocks of a page's words. Each type of block is a row of the table in block_views.cpp.
#pragma once

#include "app/page/page_text.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// Takes room from the column. `step`: of Read more; −1: the page's first words.
void draw_parts(PageFrame& frame, int step, const page::PageParts& parts);

}  // namespace headroom::app::window
