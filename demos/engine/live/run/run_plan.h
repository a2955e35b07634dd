// A request as the worker understands it: which demo, on what device, and what is reported about it beforehand.
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
  // What the events are of; a planner's tensors are on meta all the same.
  const protocol::DeviceFacts* device = nullptr;
  record::Bytes cap = 0;
  bool expandable_segments = false;
  std::string attention_taken;  // in place of attention=auto; empty: another value was asked for
  std::string kernels_trouble;  // why no kernel of ours runs though some were asked for

  record::DeviceKind kind() const { return device->kind; }
};

// Refused with one sentence: what this build, this machine or the table of combinations cannot do.
record::Result<RunPlan> understand(const protocol::StartRun& start, const Machine& machine);

// What a tracing engine traces of this run. Times of a traced run are not those of an untraced one, and say so.
struct Traces {
  bool kernels = false;    // of the GPU, by CUPTI
  bool operators = false;  // of the CPU
  std::string trouble;     // why nothing is traced though it was asked for

  bool any() const { return kernels || operators; }
};

Traces traces_of(const RunPlan& plan, const Machine& machine);

// What a recording says of the run before its first event.
record::RunInfo info_of(const protocol::StartRun& start, const RunPlan& plan, const Machine& machine);

}  // namespace headroom::live
