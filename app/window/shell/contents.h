// All pages, to jump to: by a click, or by typing a page's number.
#pragma once

#include <span>

#include "app/window/shell/chrome.h"
#include "app/window/views/page_frame.h"
#include "lessons/pages/page.h"

namespace headroom::app::window {

// While it is open; UiState::contents_open opens it.
PageChoice draw_contents(PageFrame& frame, std::span<const lessons::Chapter> chapters);

}  // namespace headroom::app::window
