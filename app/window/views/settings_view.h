// The settings of the demo, drawn from its schema, and Run.
#pragma once

#include "app/window/draw/draw.h"
#include "app/window/shell/ui_state.h"

namespace headroom::app::window {

// Two rows of four, the rest behind "More"; Run at the right end.
void draw_settings(PageFrame& frame, const Rect& rect);
// Narrow pages: all of it folded into one summary.
void draw_settings_folded(PageFrame& frame, const Rect& rect);

// Pages of sweeps have a button of their own.
bool has_run_button(const PageFrame& frame);

// "Llama 3.2 1B, batch 4, 1,024 tokens, bf16"
std::string settings_summary(const PageFrame& frame);

}  // namespace headroom::app::window
