// All pages, to jump to by a click or a typed number.
#pragma once

#include <span>

#include "app/window/shell/chrome.h"
#include "app/window/views/page_frame.h"
#include "lessons/pages/page.h"

namespace headroom::app::window {

// Draws while open; UiState::contents_open opens it.
PageChoice draw_contents(PageFrame& frame, std::span<const lessons::Chapter> chapters);

}  // namespace headroom::app::window
