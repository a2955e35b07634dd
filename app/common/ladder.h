// The ablation ladder: one switch after the other, from naive to all on, each rung with all switches below it.
#pragma once

#include <span>
#include <string>

#include "app/common/sweep_plan.h"

namespace headroom::app {

// What a ladder begins with where a setting was not asked for: fp32, composed from plain operators, everything kept.
// (AdamW is the fused one: other optimizers and roundings are choices of its kernel.)
record::Params naive_settings();

// Series "ladder", labels "naive" and the switches' ids; `base` is the first rung. Without an order, all switches but
// those that do not go with the ones before them; with one, a switch that does not go with the others is a rung that is
// refused, and the rungs above do without it. Refuses an id that is not known, and one given twice.
record::Result<SweepPlan> plan_ladder(const record::Params& base, std::span<const std::string> order);

}  // namespace headroom::app
