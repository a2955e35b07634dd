// A table among the words of a page.
#pragma once

#include "app/window/views/page_frame.h"
#include "lessons/pages/page.h"

namespace headroom::app::window {

// As wide as its column of words at most: cells wrap between words, and where whole words have no room its letters are smaller.
void draw_word_table(const PageFrame& frame, const lessons::TableBlock& table);

}  // namespace headroom::app::window
