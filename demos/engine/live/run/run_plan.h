// A request as the worker understands it: demo, device, and the facts recorded before the run.
#pragma once

#include <string>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/live/run/machine.h"
#include "demos/protocol/messages.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::live {

struct RunPlan {
  const experiments::DemoRunner* runner = nullptr;
  bool recorded = true;
  record::Params params;
  // Device that the events name, although a planner's tensors are on meta.
  const protocol::DeviceFacts* device = nullptr;
  record::Bytes cap = 0;
  int ranks = 1;  // processes of the run
  bool expandable_segments = false;
  std::string attention_taken;  // kernel that replaces attention=auto; empty: not auto
  std::string kernels_trouble;  // why our kernels do not run although requested

  record::DeviceKind kind() const { return device->kind; }
  // Processes that share this machine's CPU and memory; a planner's run is on one machine.
  int ranks_here(const Machine& machine) const;
};

// Refuses what this build or this machine cannot do, or the table of combinations excludes.
record::Result<RunPlan> understand(const protocol::StartRun& start, const Machine& machine);

// Tracing changes times, so the recording names the traced parts.
struct Traces {
  bool kernels = false;    // on the GPU, by CUPTI
  bool operators = false;  // on the CPU
  std::string trouble;     // why nothing is traced although requested

  bool any() const { return kernels || operators; }
};

Traces traces_of(const RunPlan& plan, const Machine& machine);

// Without clock_start, because the run's clock has not started.
record::RunInfo info_of(const protocol::StartRun& start, const RunPlan& plan, const Machine& machine);

}  // namespace headroom::live
