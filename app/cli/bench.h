// Options of headroom bench.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"

namespace headroom::app {

struct BenchOptions : CommonOptions {
  std::vector<std::string> kernels;  // empty: all
};

}  // namespace headroom::app
