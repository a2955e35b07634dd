// The options of headroom bench, which compares kernels, a step with its kernels, or a step with its bound.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"

namespace headroom::app {

struct BenchOptions : CommonOptions {
  std::vector<std::string> kernels;  // empty: all
};

}  // namespace headroom::app
