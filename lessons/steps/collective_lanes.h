// Collectives of one step below its memory: a lane per axis of the shown rank, and a thin one per other rank.
#pragma once

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/panels/lanes.h"

namespace headroom::lessons {

// Positions are those of the shown rank's time axis. Other ranks of the same host are placed by the common clock, and
// otherwise by their step's first mark. False if the step has no collectives, or the axis has no times.
bool add_collective_lanes(Lanes& panel, const record::Recording& shown, const record::StepRange& range,
                          record::TimeAxis axis);

}  // namespace headroom::lessons
