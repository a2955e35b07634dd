// The parts of a page on the screen, each with a source of its own.
#pragma once

#include <string>
#include <string_view>

#include "app/page/question.h"
#include "app/page/words/page_text.h"
#include "app/window/draw/controls.h"
#include "app/window/views/page_frame.h"
#include "lessons/pages/blocks/table.h"

namespace headroom::app::window {

// Returns where the reader wants to go.
Turn draw_text_column(PageFrame& frame, const Rect& rect);
// The open question, its answer, a step's words, or the page's first words.
void draw_words_of_moment(PageFrame& frame, const Rect& rect);
// Goes to the next (+1) or previous (−1) step of Read more. False if there is none.
bool walk(PageFrame& frame, int direction);
// Opens Read more; false if it is open or has no steps.
bool begin_more(PageFrame& frame);
// −1 shows the first words. Does nothing while the question is open.
void read_step(PageFrame& frame, int step);
// Returns to the first words; the figure then shows everything.
void leave_more(PageFrame& frame);
// Returns where the rest begins.
float draw_notice(const PageFrame& frame, const Rect& at);
// Draws until the reader closes the notice. Returns the y below it.
float draw_program_notice(PageFrame& frame, const Rect& at);

// --- among the words, at ImGui's cursor
// Each type of block has a row in block_views.cpp's table. `step`: step of Read more, or −1 for the first words.
void draw_parts(PageFrame& frame, int step, const page::PageParts& parts);
// Links act at once; a refused setting becomes the page's notice.
void draw_linked(PageFrame& frame, const lessons::MarkedText& words, float em, float line);
// The table is at most as wide as its column: cells wrap between words, and letters shrink if whole words do not fit.
void draw_word_table(const PageFrame& frame, const lessons::TableBlock& table);

// The question, the awaited answer or the reply, if any.
void draw_question(PageFrame& frame);
void lock_answer(PageFrame& frame);

struct SecondCard {
  page::SecondQuestion question;
  std::string text = {}, error = {};  // text in the field; why it is no number
};
// A card below the last step of Read more; nothing if the page has no second question.
void draw_second_question(PageFrame& frame);

// --- the card below the figure: the peak, whether and up to which batch it fits, and the techniques as switches
// Height in px at scale 1; 0 if there is nothing to say. Both strips keep their room while the question is open, so
// that nothing moves at the reveal.
float verdict_height(const PageFrame& frame);
void draw_verdict(PageFrame& frame, const Rect& rect);
// The page's card at the right end of a row, or the CPU as text. Returns the left edge.
float draw_card_choice(PageFrame& frame, const Rect& row);
void draw_card_button(PageFrame& frame, const Rect& at);
float card_choice_width(const page::PageModel& page);

// Stands for a strip until the answer.
void draw_strip_veil(const Rect& rect, std::string_view what);

// Height in px at scale 1; 0 if there is nothing to compare.
float comparison_height(const PageFrame& frame);
// Wide pages show both runs and the difference, others only the changes.
void draw_comparison(PageFrame& frame, const Rect& rect);
// True if there are other runs, and looking at them gives no answer away.
bool runs_to_choose(const page::PageModel& page);
// The width of "3 runs" and an arrow.
float run_choice_width(const page::PageModel& page);
void draw_run_choice(PageFrame& frame, const Rect& rect);

// --- a column of words and drawings, at ImGui's cursor
inline bool wide(const PageFrame& frame) { return frame.density == Density::kWide; }

inline constexpr float kColumnWidth = 440;  // wider columns use the em of wide pages

// Line height (over em) and em of a page's words.
float text_line(const PageFrame& frame);
float text_em(const PageFrame& frame);
float card_em(const PageFrame& frame);

// A part of the page with its own scroll bar. Its window exceeds the content slightly, for focus rings and the bar.
// Always call end_column().
bool begin_column(const char* id, const Rect& rect);
void end_column();
void gap(float height);  // px at scale 1
// A rectangle at the cursor, as wide as the column and `height` high (px at scale 1).
Rect content_rect(float height);
// Like content_rect(), but moves the cursor below the rectangle.
Rect take(float height);
// Moves the cursor below `rect`, which was drawn without take().
void end_drawing(const Rect& rect);

void put_words(Face face, float em, float line, Color color, std::string_view words);
void put_callout(CalloutKind kind, std::string_view head, std::string_view body);

// A card as high as its content. Always call end_card().
bool begin_card(const char* id, const PageFrame& frame);
void end_card();
void card_head(Icon icon, std::string_view words);

// Exports the current figure to files, as it is on the screen.
void draw_export(PageFrame& frame);

}  // namespace headroom::app::window
