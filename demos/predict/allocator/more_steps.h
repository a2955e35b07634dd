// Repeats the last traced step: later steps allocate alike, and tracing takes time.
#pragma once

#include <optional>

#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// Steps to trace: two, of which the first allocates the optimizer's state and the second reuses it; all steps if they
// differ, if some are followed by an evaluation, or if a CUDA graph is used.
int traced_steps(const StepSettings& step);

// Repeats the second of two traced steps. Returns nullopt if that step does not restore the memory that it found.
std::optional<record::Recording> with_more_steps(record::Recording trace, int steps);

}  // namespace headroom::predict
