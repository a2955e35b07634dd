// Which runs are evidence for settings.
#pragma once

#include <string_view>

#include "demos/record/recording.h"
#include "demos/record/schema.h"
#include "demos/record/sweep_point.h"

namespace headroom::app {

// The run computed what these settings compute, on a device of that kind: how long it ran, and on which files, does not
// count, and attention=auto is the kernel that it is on the run's device. A run that a limit ended is evidence under that
// limit alone; a sweep is none, nor is a run with settings that this version does not know.
bool is_evidence(const record::Recording& run, std::string_view demo, const record::Params& settings,
                 record::DeviceKind device);
// The same of one point of a training step's sweep.
bool is_evidence(const record::SweepPoint& point, const record::RunInfo& sweep, const record::Params& settings,
                 record::DeviceKind device);

}  // namespace headroom::app
