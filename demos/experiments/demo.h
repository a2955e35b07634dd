// Demos: what can be run. This side is constant data and knows no torch; the code that runs is in *_run.cpp.
#pragma once

#include <span>
#include <string_view>

#include "demos/record/schema.h"

namespace headroom::experiments {

struct DemoInfo {
  std::string_view id;       // "train_step", as in `headroom run train_step`
  std::string_view title;    // "One training step"
  std::string_view summary;  // one line for lists
  record::Schema schema;
  bool records_memory = true;  // false: it measures time, and recording every allocation would be in the way
  bool needs_kernels = false;  // true: without our kernels there is nothing to run on a GPU
  record::Bytes (*written_bytes)(const record::Params& params) = nullptr;  // of the file that it writes; null: none
};

std::span<const DemoInfo* const> demos();        // in display order
const DemoInfo* find_demo(std::string_view id);  // null: unknown
// `train_step`, which most of the course is about: its parameters are what predict::StepSettings decodes.
const DemoInfo& training_step();

// The heading of what a training step's optimizer is set to.
inline constexpr std::string_view kOptimizerGroup = "Optimizer";

// Sets every operation that our kernels and PyTorch's operators both compute (OwnKernels::composed) to our kernels.
void use_own_kernels(record::Params& params);

}  // namespace headroom::experiments
