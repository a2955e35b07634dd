// Settings without a demo, for pages that calculate: nothing runs with them, closed forms follow them.
#pragma once

#include <span>
#include <string_view>

#include "demos/experiments/demo.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

std::span<const DemoInfo* const> schemas();        // in display order
const DemoInfo* find_schema(std::string_view id);  // null: unknown

// What `train_step` computes and how (its roles shape and technique), without what only a run needs.
const DemoInfo& shape_schema();
// The same settings as those of `train_step`, which closed forms read. `settings`: of `shape`, or of `train_step` itself.
record::Params step_params(const record::Params& settings);

}  // namespace headroom::experiments
