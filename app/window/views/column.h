// A column of words and hand-drawn things below each other, at ImGui's cursor.
#pragma once

#include <string_view>

#include "app/window/draw/draw.h"
#include "app/window/draw/icons.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

inline bool wide(const PageFrame& frame) { return frame.density == Density::kWide; }

inline constexpr float kColumnWidth = 440;  // narrow pages: from here on, words are as large as on wide ones

// Line height over em, and the em, of a page's words.
float text_line(const PageFrame& frame);
float text_em(const PageFrame& frame);
// Of the words in a card: question, answer, reply.
float card_em(const PageFrame& frame);

void gap(float height);  // px at scale 1
// What is left of the column's width from the cursor on, `height` high (px at scale 1).
Rect content_rect(float height);
// The same, taken: what follows comes below it.
Rect take(float height);
// What follows comes below `rect`, which was drawn without take().
void end_drawing(const Rect& rect);

// A card as high as what is drawn in it; end_card() in any case.
bool begin_card(const char* id, const PageFrame& frame);
void end_card();
void card_head(Icon icon, std::string_view words);

}  // namespace headroom::app::window
