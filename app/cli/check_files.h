// The files that a run's parameters name, looked at before anything starts.
#pragma once

#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// Text, checkpoint and source must be readable, and a file that is written new, with room for what it takes. An engine
// elsewhere reads its machine's files, and reports itself what is wrong with them.
record::Status check_files(const experiments::DemoInfo& demo, const record::Params& params, const EngineChoice& engine);

}  // namespace headroom::app
