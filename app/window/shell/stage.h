// On stage: what its keys do, and what covers the picture.
#pragma once

#include <optional>

#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// The keys that have another meaning there. Says where the presenter wants to go; nothing: none of them was pressed.
std::optional<Turn> take_stage_keys(PageFrame& frame);
// A blank screen, or all but a circle at the mouse in shade.
void draw_over_stage(const UiState& ui, const Rect& window);

}  // namespace headroom::app::window
