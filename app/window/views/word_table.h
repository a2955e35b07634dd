// A table among the words of a page.
#pragma once

#include "app/window/views/page_frame.h"
#include "lessons/pages/blocks/table.h"

namespace headroom::app::window {

// At most as wide as its column: cells wrap between words, and letters shrink if whole words do not fit.
void draw_word_table(const PageFrame& frame, const lessons::TableBlock& table);

}  // namespace headroom::app::window
