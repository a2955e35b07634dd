// headroom bench train_step: compares a training step with the lower bound on its time.
#pragma once

#include "app/cli/bench.h"

namespace headroom::app {

record::Result<ExitCode> bench_train_step(const BenchOptions& options);

}  // namespace headroom::app
