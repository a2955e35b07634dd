// headroom bench step: compares a training step with the sum of its kernels.
#pragma once

#include <string>
#include <vector>

#include "app/cli/bench.h"
#include "demos/record/recording.h"

namespace headroom::app {

// The first steps compile, tune, fill caches and capture a graph.
inline constexpr int kWarmUpSteps = 5;
inline constexpr int kSteps = 35, kQuickSteps = 10;
// Fails if all steps would be warm-up.
record::Status check_steps(const record::Params& params);
// Times of the steps after the warm-up, in ns.
std::vector<double> step_times(const record::Recording& recording);
std::string duration(double nanoseconds);

// Llama 3.2 1B on 1 × 1,024 tokens with all of our kernels.
record::Params fast_step();

record::Result<ExitCode> bench_step(const BenchOptions& options);

}  // namespace headroom::app
