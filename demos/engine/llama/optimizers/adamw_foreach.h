// AdamW by PyTorch's foreach operators, which torch.optim.AdamW uses by default on a GPU (torch/optim/adamw.py,
// _multi_tensor_adamw).
#pragma once

#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"

namespace headroom::llama {

class AdamWForeach final : public AdamWFamily {
 public:
  // Allocates the moments, in the weights' type. Supports no masters, loss scale or stochastic rounding.
  AdamWForeach(std::vector<Parameter> parameters, const AdamWOptions& options);

  // Allocates the denominators of all these weights: as many bytes as their second moments.
  void update(std::span<const std::size_t> which) override;
};

}  // namespace headroom::llama
