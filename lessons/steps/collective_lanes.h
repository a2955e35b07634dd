// Collectives of one step below its memory: a lane per rank, which is thin unless the rank is shown.
#pragma once

#include <span>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/panels/lanes.h"

namespace headroom::lessons {

// Positions are those of the shown rank's time axis. Other ranks of the same host are placed by the common clock, and
// otherwise by their step's first mark. A click on a rank's name shows it. False if the step has no collectives, or the
// axis has no times.
bool add_collective_lanes(Lanes& panel, std::span<const record::Ledger* const> ranks, const record::Recording& shown,
                          const record::StepRange& range, record::TimeAxis axis);

}  // namespace headroom::lessons
