// Demos: everything that can be run. This side is constant data without torch; the code that runs is in *_run.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "demos/record/schema.h"

namespace headroom::experiments {

struct DemoInfo {
  std::string_view id;  // "train_step", as in `headroom run train_step`
  std::string_view title;
  std::string_view summary;  // one line for lists
  record::Schema schema;
  bool records_memory = true;  // false: measures time, which recording allocations would disturb
  bool needs_kernels = false;  // true: on a GPU it needs our kernels
  bool trains = false;         // true: a training step, with the parameters of predict::StepSettings
  record::Bytes (*written_bytes)(const record::Params& params) = nullptr;  // null: writes no file
  bool (*traced)(const record::Params& params) = nullptr;                  // null: never traces its kernels
  // Seconds without progress after which the run's engines are killed; null or 0: never.
  std::int64_t (*patience)(const record::Params& params) = nullptr;
  std::int64_t (*ranks)(const record::Params& params) = nullptr;  // processes of a run; null: one
};

std::span<const DemoInfo* const> demos();  // display order
const DemoInfo* find_demo(std::string_view id);
bool trains(std::string_view id);
const DemoInfo& training_step();

inline constexpr std::string_view kOptimizerGroup = "Optimizer", kRanksGroup = "Several GPUs";

// Selects our kernel for every operation that PyTorch's operators compute as well (OwnKernels::composed).
void use_own_kernels(record::Params& params);

}  // namespace headroom::experiments
