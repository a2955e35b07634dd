// Runs of `headroom` with the scripted engine.
#pragma once

#include <string>

#include "tests/cli/support/program.h"

namespace headroom::tests {

inline RunOptions with_engine(const std::string& script) {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = HEADROOM_SCRIPTED_ENGINE;
  options.environment["HEADROOM_SCRIPT"] = script;
  return options;
}

}  // namespace headroom::tests
