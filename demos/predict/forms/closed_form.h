// Closed form for the peak of a GPU's training step: requested bytes by category at each candidate for the peak. The
// planner's trace is exact but needs an engine.
#pragma once

#include <string>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

struct ClosedForm {
  struct Moment {
    // kBackward: head, final norm, a layer's MLP or attention, or embedding. kOptimizer: the update of all weights or,
    // during the backward pass, of the last layer's.
    record::Phase phase = record::Phase::kLoss;
    record::ByCategory bytes{};
  };

  std::vector<Moment> moments;        // in step order
  std::vector<std::string> left_out;  // unsupported parts
  std::vector<std::string> assumed;   // assumptions about parts that runs do not have

  const Moment& peak() const;
};

// For a step's last micro-batch. Llama 3.2 1B in bf16 with AdamW and 4 sequences of 1,024 peaks at the loss with 20.9
// GB: 2 bytes and 4 bytes of optimizer state per weight, 7,189,561,344 bytes of activations, and 12 V bytes of logits
// per token.
ClosedForm closed_form(const StepSettings& step);

}  // namespace headroom::predict
