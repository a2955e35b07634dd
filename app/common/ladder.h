// The ablation ladder: each rung turns on one more switch, from naive to all on.
#pragma once

#include <span>
#include <string>

#include "app/common/sweep_plan.h"

namespace headroom::app {

// The default first rung: fp32, plain operators, everything kept. AdamW is fused, because other optimizers and
// roundings are options of its kernel.
record::Params naive_settings();

// Series "ladder", labels "naive" and the switches' ids; `base` is the first rung. Without an order, switches that
// conflict with earlier ones are omitted. With one, they become refused rungs, and later rungs skip them. Fails for
// unknown and repeated ids.
record::Result<SweepPlan> plan_ladder(const record::Params& base, std::span<const std::string> order);

}  // namespace headroom::app
