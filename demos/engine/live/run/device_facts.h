// What this machine can run on, and in which versions: the engine's first message, and `headroom doctor`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "demos/protocol/messages.h"
#include "kernels/common/device.h"

namespace headroom::live {

struct MachineFacts {
  std::vector<protocol::DeviceFacts> devices;  // the CPU first
  std::map<std::string, std::string> facts;    // torch, cuda, driver, gpu, compute_capability, cpu, revision, …
  // What this machine's own memory can still give now; asked before each run on the CPU. 0: not known.
  std::function<record::Bytes()> available_memory;
  // The oldest GPU that the kernels of this build run on: 10 × its compute capability.
  int oldest_capability = kernels::oldest_capability();
};

// `look_for_gpu` false: CUDA is not touched. Makes no CUDA context either way.
MachineFacts machine_facts(bool look_for_gpu);

// For the planner: the GPU that the driver's management library knows, named and sized without CUDA.
void add_planned_devices(MachineFacts& machine);

int cpu_cores();  // that this process may use

}  // namespace headroom::live
