// Creates the chosen optimizer.
#include "demos/engine/llama/optimizers/optimizer_choice.h"

#include <utility>

#include "demos/engine/llama/optimizers/adamw_8bit.h"
#include "demos/engine/llama/optimizers/adamw_foreach.h"

namespace headroom::llama {

std::unique_ptr<Optimizer> make_optimizer(std::vector<Parameter> parameters, const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::kAdamWForeach:
      return std::make_unique<AdamWForeach>(std::move(parameters), options.adamw);
    case OptimizerKind::kAdamW8bit:
    case OptimizerKind::kPagedAdamW8bit:
      return std::make_unique<AdamW8bit>(std::move(parameters), options.adamw);
    case OptimizerKind::kGaLore:
      return std::make_unique<GaLore>(std::move(parameters), options.adamw, options.galore);
    case OptimizerKind::kAdamW:
      break;
  }
  return std::make_unique<AdamW>(std::move(parameters), options.adamw);
}

}  // namespace headroom::llama
