// Devices and versions of this machine, for the engine's first message and `headroom doctor`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "demos/protocol/launchers.h"
#include "demos/protocol/messages.h"
#include "kernels/common/device.h"

namespace headroom::live {

struct MachineFacts {
  std::vector<protocol::DeviceFacts> devices;  // the CPU first
  std::map<std::string, std::string> facts;    // torch, cuda, driver, …
  std::optional<protocol::RankPlace> rank;     // none: this process is not one of several ranks
  std::string rank_trouble;                    // why a launcher's variables cannot be used
  // Available memory of the host, read before each CPU run. 0: unknown.
  std::function<record::Bytes()> available_memory;
  // 10 × the compute capability of the oldest GPU that this build's kernels run on.
  int oldest_capability = kernels::oldest_capability();
};

// Uses CUDA only if `look_for_gpu`, and never makes a CUDA context.
MachineFacts machine_facts(bool look_for_gpu);

// For the planner: adds the GPU that NVML reports, without CUDA.
void add_planned_devices(MachineFacts& machine);

int cpu_cores();  // usable by this process

}  // namespace headroom::live
