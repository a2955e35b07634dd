// headroom bench step: a whole training step beside the sum of its kernels.
#pragma once

#include "app/cli/options.h"
#include "app/common/exit_codes.h"
#include "demos/record/result.h"

namespace headroom::app {

record::Result<ExitCode> bench_step(const BenchOptions& options);

}  // namespace headroom::app
