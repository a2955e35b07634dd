// Collectives of one step as boxes on the step's time axis: a lane per rank.
#pragma once

#include <span>

#include "demos/record/ledger.h"
#include "demos/record/rows/collective.h"
#include "demos/record/timeline.h"
#include "lessons/panels/lanes.h"
#include "lessons/steps/kernel_rows.h"

namespace headroom::lessons {

// True for an all-reduce or a reduce-scatter.
bool is_sum(record::CollectiveKind kind);

// Returns what to add to a rank's times, to place them relative to `origin` on the clock of `shown`. The common clock
// places ranks of one host; without it, their step's first marks coincide.
double clock_shift(const record::Recording& rank, const record::Recording& shown, record::Nanoseconds origin,
                   std::int32_t step);

// Position of a rank's time 0 on the time axis of `shown`'s step.
double rank_shift(const record::Recording& rank, const record::Recording& shown, const record::StepRange& range,
                  record::TimeAxis axis);

// Collectives of `rank`, which may be `shown` itself, that meet the range of `x`.
Lane collective_lane(const record::Recording& rank, const record::Recording& shown, const record::StepRange& range,
                     record::TimeAxis axis, const Axis& x, const KernelUnits& units);

// Adds a lane per rank below a step's memory, which is thin unless the rank is shown; a click on its name shows it.
// False if the step has no collectives, or the axis has no times.
bool add_collective_lanes(Lanes& panel, std::span<const record::Ledger* const> ranks, const record::Recording& shown,
                          const record::StepRange& range, record::TimeAxis axis);

}  // namespace headroom::lessons
