// Starts the window from the command line.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "demos/record/result.h"

namespace headroom::app {

// Replaces this process with headroom-window; returns only on failure. `engine` may be empty.
record::Error start_window(const std::string& engine, const std::vector<std::string>& words);

}  // namespace headroom::app
