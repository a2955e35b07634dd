// Later steps of a trace from its last one: all of them allocate the same, and to trace them takes time.
#pragma once

#include <optional>

#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// How many steps have to be traced, of a run of so many: the first makes the optimizer's state, the second finds it.
// Where steps differ, some are followed by an evaluation, or one is recorded as a CUDA graph: all.
int traced_steps(const StepSettings& step);

// Two traced steps, and the second again until there are as many as a prediction shows. Nothing: what the second leaves
// behind is not what it found.
std::optional<record::Recording> with_more_steps(record::Recording trace, int steps);

}  // namespace headroom::predict
