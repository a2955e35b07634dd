// Which GPUs can run the kernels of this build, and what becomes of a run that asks for them on one that cannot.
#pragma once

#include <string>

#include "demos/engine/live/run/device_facts.h"
#include "demos/record/schema.h"

namespace headroom::live {

// "NVIDIA GeForce GTX 1080 has compute capability 6.1, and the kernels of this build need 8.0"; empty where they can
// run, or if the GPU's age is not known.
std::string lacks_kernels(const protocol::DeviceFacts& gpu, const MachineFacts& machine);

// "optimizer=galore is done by them alone: take optimizer=adamw, or device=cpu."; empty where compose() finds a way.
std::string only_by_kernels(const record::Params& params);

// The same run composed from PyTorch's operators, wherever ParamSpec::own_kernels says that they compute the same.
// Returns whether that changed anything.
bool compose(record::Params& params);

}  // namespace headroom::live
