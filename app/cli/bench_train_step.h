// headroom bench train_step: a whole training step beside what no step of its shape can be faster than.
#pragma once

#include "app/cli/bench.h"

namespace headroom::app {

record::Result<ExitCode> bench_train_step(const BenchOptions& options);

}  // namespace headroom::app
