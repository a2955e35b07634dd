// The reading side of a page: words, question, answer, notices and navigation.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// Returns where the reader wants to go.
Turn draw_text_column(PageFrame& frame, const Rect& rect);

// Goes to the next (+1) or previous (−1) step of Read more. False if there is none.
bool walk(PageFrame& frame, int direction);
// Goes to the first step. False if there is none.
bool begin_more(PageFrame& frame);
// Shows a step, from 0, or the first words (−1). Not while the question is open.
void read_step(PageFrame& frame, int step);
// The open question or its answer, a step's words, or the page's first words.
void draw_words_of_moment(PageFrame& frame, const Rect& rect);
// Returns to the first words; the figure shows everything.
void leave_more(PageFrame& frame);

// The page's problem, if any. Returns where the rest begins.
float draw_notice(const PageFrame& frame, const Rect& at);
// The program's notice, until the reader closes it. Returns where the rest begins.
float draw_program_notice(PageFrame& frame, const Rect& at);

}  // namespace headroom::app::window
