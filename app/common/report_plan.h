// The experiment of the report on Liger Kernel (Llama 3.2 1B on one 24 GB card) as a sweep.
#pragma once

#include <filesystem>

#include "app/common/sweep_plan.h"

namespace headroom::app {

// Settings that all points share, but for the loss, the fused kernels, batch and sequence. Quick: the tiny model on the
// CPU, under a cap that is small enough for the first strategy to run out.
record::Params report_params(bool quick);

// Three strategies over the batch at one length, and over the length at one batch. Runs whose timelines the report
// shows are kept as recordings in `timelines`; empty: nowhere.
SweepPlan plan_report(const record::Params& base, bool quick, const std::filesystem::path& timelines = {});

}  // namespace headroom::app
