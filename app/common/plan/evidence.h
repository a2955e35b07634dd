// Decides which runs are evidence for settings.
#pragma once

#include <string_view>

#include "demos/record/recording.h"
#include "demos/record/rows/sweep_point.h"
#include "demos/record/schema.h"

namespace headroom::app {

// True if the run computed the same as these settings would, on that kind of device. The run's length and files do not
// matter, and attention=auto means the kernel chosen on the run's device. A run that hit a limit is evidence only under
// that limit. Sweeps and runs with unknown settings are no evidence.
bool is_evidence(const record::Recording& run, std::string_view demo, const record::Params& settings,
                 record::DeviceKind device);
bool is_evidence(const record::SweepPoint& point, const record::RunInfo& sweep, const record::Params& settings,
                 record::DeviceKind device);

}  // namespace headroom::app
