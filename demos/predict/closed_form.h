// The peak of a whole training step on a GPU, in closed form: what each kind of memory takes at the few moments that
// can be the highest. Requested bytes, by arithmetic alone; the planner's list is exact and takes an engine.
#pragma once

#include <string>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

struct ClosedForm {
  struct Moment {
    // kLoss: the loss holds most. kBackward: the head, the final norm, a layer's MLP or attention, the embedding.
    // kRecompute: a layer is run again. kOptimizer: all weights are stepped, or in backward those of the last layer.
    record::Phase phase = record::Phase::kLoss;
    record::ByCategory bytes{};
  };

  std::vector<Moment> moments;        // in the order of the step
  std::vector<std::string> left_out;  // what is not known for these settings, a short phrase each
  std::vector<std::string> assumed;   // of what the step here does not have

  const Moment& peak() const;  // the one with the most bytes
};

// Of the last of the step's micro-batches. Llama 3.2 1B in bf16 with AdamW, 4 sequences of 1,024: the loss, with
// weights 2 P, state 4 P, activations 7,189,561,344 and logits 12 V per token, 20.9 GB.
ClosedForm closed_form(const StepSettings& step);

}  // namespace headroom::predict
