// The files that a run's parameters name, looked at before anything starts.
#pragma once

#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// Data, checkpoint and source must be readable, and a file that is written new, with room for what it takes. An engine
// elsewhere reads its machine's files, and reports itself what is wrong with them. A plan reads no data.
record::Status check_files(const experiments::DemoInfo& demo, const record::Params& params, const EngineChoice& engine,
                           bool reads_data = true);

}  // namespace headroom::app
