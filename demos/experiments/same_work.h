// Compares the settings of two runs.
#pragma once

#include <map>
#include <string>

#include "demos/record/run_info.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

// True if a run with `params` computed the same as one with `asked` would. The run's length and files do not matter, and
// attention=auto means the kernel chosen on the run's device. `ran_on`: the run or sweep that `params` belong to.
// Unknown settings are never the same.
bool same_work(const std::map<std::string, std::string>& params, const record::Params& asked,
               const record::RunInfo& ran_on);

}  // namespace headroom::experiments
