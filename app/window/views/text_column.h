// The reading side of a page: words, question, answer, notices, and the way to the next page.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// Says where the reader wants to go.
Turn draw_text_column(PageFrame& frame, const Rect& rect);

// Read more is a tour of steps: to the next (+1) or the one before (−1). False: there is none.
bool walk(PageFrame& frame, int direction);
// The first step. False: there is none.
bool begin_more(PageFrame& frame);
// That step, from 0, or with −1 what is read first. Not while the question is open.
void read_step(PageFrame& frame, int step);
// What belongs to the moment: the open question or its answer, a step's words, the page's first words where it asks nothing.
void draw_words_of_moment(PageFrame& frame, const Rect& rect);
// Back to what is read first; the figure shows everything again.
void leave_more(PageFrame& frame);

// What went wrong on the page, if anything did, at the top of a rectangle. Returns where the rest begins.
float draw_notice(const PageFrame& frame, const Rect& at);
// What the program itself has to say, until the reader closes it, in the same way.
float draw_program_notice(PageFrame& frame, const Rect& at);

}  // namespace headroom::app::window
