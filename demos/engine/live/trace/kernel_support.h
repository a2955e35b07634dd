// Checks whether a GPU runs this build's kernels, and if not, replaces them by PyTorch's operators.
#pragma once

#include <string>

#include "demos/engine/live/run/device_facts.h"
#include "demos/record/schema.h"

namespace headroom::live {

// Why the kernels do not run, in a sentence; empty if they run, or if the capability is unknown.
std::string lacks_kernels(const protocol::DeviceFacts& gpu, const MachineFacts& machine);

// "optimizer=galore needs these kernels: use optimizer=adamw or device=cpu."; empty if compose() suffices.
std::string only_by_kernels(const record::Params& params);

// Switches to PyTorch's operators where ParamSpec::own_kernels says that they compute the same. True if a setting
// changed.
bool compose(record::Params& params);

}  // namespace headroom::live
