// headroom FILE: opens the window with a recording.
#pragma once

#include <memory>
#include <string>

#include "app/cli/command.h"

namespace headroom::app {

std::unique_ptr<Invocation> open_recording(std::string file);

}  // namespace headroom::app
