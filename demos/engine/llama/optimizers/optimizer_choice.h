// Which optimizer steps the weights, and with what.
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
  AdamWOptions adamw;    // of all kinds
  GaLoreOptions galore;  // of kGaLore
};

// Takes the memory of the optimizer's state.
std::unique_ptr<Optimizer> make_optimizer(std::vector<Parameter> parameters, const OptimizerOptions& options);

}  // namespace headroom::llama
