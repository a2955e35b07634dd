// A column of words and drawings, at ImGui's cursor.
#pragma once

#include <string_view>

#include "app/window/draw/controls.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

inline bool wide(const PageFrame& frame) { return frame.density == Density::kWide; }

inline constexpr float kColumnWidth = 440;  // wider columns use the em of wide pages

// Line height over em, and em, of a page's words.
float text_line(const PageFrame& frame);
float text_em(const PageFrame& frame);
// The em of words in a card.
float card_em(const PageFrame& frame);

void gap(float height);  // px at scale 1
// The column's width at the cursor, `height` high (px at scale 1).
Rect content_rect(float height);
// The same, with the cursor moved below it.
Rect take(float height);
// Moves the cursor below `rect`, which was drawn without take().
void end_drawing(const Rect& rect);

// A paragraph, or a callout, at the cursor.
void put_words(Face face, float em, float line, Color color, std::string_view words);
void put_callout(CalloutKind kind, std::string_view head, std::string_view body);

// A card as high as its content. Always call end_card().
bool begin_card(const char* id, const PageFrame& frame);
void end_card();
void card_head(Icon icon, std::string_view words);

}  // namespace headroom::app::window
