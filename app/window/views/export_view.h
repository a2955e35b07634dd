// Exports the current figure to files, as it is on the screen.
#pragma once

#include "app/window/views/page_frame.h"

namespace headroom::app::window {

void draw_export(PageFrame& frame);

}  // namespace headroom::app::window
