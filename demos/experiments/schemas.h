// Settings without a demo, for pages that only calculate.
#pragma once

#include <span>
#include <string_view>

#include "demos/experiments/demo.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

std::span<const DemoInfo* const> schemas();  // display order
const DemoInfo* find_schema(std::string_view id);

// The shape and technique parameters of `train_step`.
const DemoInfo& shape_schema();
// Converts settings of `shape` or `train_step` to those of `train_step`.
record::Params step_params(const record::Params& settings);

}  // namespace headroom::experiments
