// headroom bench step: a whole training step beside the sum of its kernels.
#pragma once

#include "app/cli/bench.h"

namespace headroom::app {

// The settings that both benchmarks of a step begin with: Llama 3.2 1B on 1 × 1,024 tokens with all of our kernels.
record::Params fast_step();

record::Result<ExitCode> bench_step(const BenchOptions& options);

}  // namespace headroom::app
