// The experiment of the report on Liger Kernel (Llama 3.2 1B on one 24 GB card) as a sweep.
#pragma once

#include <filesystem>

#include "app/common/sweep_plan.h"

namespace headroom::app {

// Settings of all points, apart from loss, fused kernels, batch and sequence. Quick: the tiny model on the CPU, with
// a cap that the first strategy exceeds.
record::Params report_params(bool quick);

// Three strategies over the batch and over the length. Keeps recordings of the report's timelines in `timelines`, if
// not empty.
SweepPlan plan_report(const record::Params& base, bool quick, const std::filesystem::path& timelines = {});

}  // namespace headroom::app
