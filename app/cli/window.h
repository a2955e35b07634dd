// The window, from the command line.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "demos/record/result.h"

namespace headroom::app {

// Becomes headroom-window with these words; returns only if that fails. `engine`: the user's wish; empty: none.
record::Error start_window(const std::string& engine, const std::vector<std::string>& words);

}  // namespace headroom::app
