// headroom bench step: a whole training step beside the sum of its kernels.
#pragma once

#include <string>
#include <vector>

#include "app/cli/bench.h"
#include "demos/record/recording.h"

namespace headroom::app {

// What both benchmarks of a step have in common. The first steps compile, tune, fill caches and record a graph.
inline constexpr int kWarmUpSteps = 5;
inline constexpr int kSteps = 35, kQuickSteps = 10;
// Refuses so few steps that all of them warm up.
record::Status check_steps(const record::Params& params);
// Of the steps behind those, in ns.
std::vector<double> step_times(const record::Recording& recording);
std::string duration(double nanoseconds);

// The settings that both benchmarks of a step begin with: Llama 3.2 1B on 1 × 1,024 tokens with all of our kernels.
record::Params fast_step();

record::Result<ExitCode> bench_step(const BenchOptions& options);

}  // namespace headroom::app
