// The optimizer inside backward: a layer's weights are stepped as soon as their gradients are there, and the gradients
// go at once. Lv et al. 2023, Full Parameter Fine-tuning for Large Language Models with Limited Resources (LOMO),
// arXiv:2306.09782, section 3.1.
#pragma once

#include "demos/engine/llama/step/train_step.h"

namespace headroom::llama {

// The last of a step's hooks: the gradients are gone after it. At most one layer's are alive, besides those of the
// weights that belong to no layer, which come first and go last.
//
// With a loss scale an overflow counts from the layer on where it appears, and for all that come after it in this step;
// layers that were done before have been stepped, by gradients that were finite. A step with its optimizer at the end is
// skipped as a whole.
class UpdateInBackward final : public LayerHooks {
 public:
  explicit UpdateInBackward(Optimizer& optimizer) : optimizer_(optimizer) {}

  void gradients_ready(std::int64_t layer) override;
  int marks_per_pass(const Config& config) const override;

 private:
  Optimizer& optimizer_;
};

}  // namespace headroom::llama
