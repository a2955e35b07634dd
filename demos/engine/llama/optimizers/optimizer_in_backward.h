// The optimizer inside backward: steps a layer as soon as its gradients are complete, and frees them. Lv et al. 2023
// (LOMO), arXiv:2306.09782, section 3.1.
#pragma once

#include "demos/engine/llama/step/train_step.h"

namespace headroom::llama {

// Must be a step's last hook, because it frees gradients. At most one layer's gradients are alive, apart from those of
// the outer weights, which are allocated first and freed last. With a loss scale, an overflow skips its layer and all
// later ones; the layers before it have already been stepped, with finite gradients. (An optimizer after backward skips
// the whole step.)
class UpdateInBackward final : public LayerHooks {
 public:
  explicit UpdateInBackward(Optimizer& optimizer) : optimizer_(optimizer) {}

  void gradients_ready(std::int64_t layer) override;
  int marks_per_pass(const Config& config) const override;

 private:
  Optimizer& optimizer_;
};

}  // namespace headroom::llama
