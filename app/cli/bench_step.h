// headroom bench step: a whole training step beside the sum of its kernels.
#pragma once

#include "app/cli/bench.h"

namespace headroom::app {

record::Result<ExitCode> bench_step(const BenchOptions& options);

}  // namespace headroom::app
