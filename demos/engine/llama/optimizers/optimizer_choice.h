// The choice of an optimizer, with its options.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "demos/engine/llama/optimizers/galore.h"
#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/predict/techniques.h"

namespace headroom::llama {

using predict::OptimizerKind;

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdamW;
  AdamWOptions adamw;
  GaLoreOptions galore;
};

// Allocates the optimizer's state.
std::unique_ptr<Optimizer> make_optimizer(std::vector<Parameter> parameters, const OptimizerOptions& options);

}  // namespace headroom::llama
