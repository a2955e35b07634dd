// Checks the files that a run's parameters name before anything starts.
#pragma once

#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// Data, checkpoint and source must be readable; files to write must be new and fit on the disk. An engine on another
// machine checks its own files. `reads_data` is false for plans.
record::Status check_files(const experiments::DemoInfo& demo, const record::Params& params, const EngineChoice& engine,
                           bool reads_data = true);

}  // namespace headroom::app
