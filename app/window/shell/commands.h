// The finder's commands: actions of keys and buttons.
#pragma once

#include <string_view>
#include <vector>

#include "app/page/finder.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// Those that would do something now.
std::vector<page::Findable> commands_now(const PageFrame& frame);
// Returns where the reader wants to go.
Turn run_command(std::string_view id, PageFrame& frame);

}  // namespace headroom::app::window
