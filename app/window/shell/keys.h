// The keyboard: what each key does, in one table that the `?` page shows too.
#pragma once

#include "app/window/views/page_frame.h"
#include "imgui.h"

namespace headroom::app::window {

// Acts on this frame's keys. Says where the reader wants to go.
Turn take_keys(PageFrame& frame);
// The page of keys, while it is open.
void draw_keys(PageFrame& frame);

// A key that ImGui's navigation knows as well: true if pressed, and taken from it. To be asked in every frame in which
// the key has a meaning of ours, since a key's owner is set a frame ahead.
bool owned_key(ImGuiKey key);

// The next larger (+1) or smaller (−1) font scale, 0.75 to 4.
float next_font_scale(float now, int direction);

}  // namespace headroom::app::window
