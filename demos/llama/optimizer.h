// AdamW over all weights: two moments a weight, in the weight's own type.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/llama/model.h"
#include "kernels/adamw/adamw.h"

namespace headroom::llama {

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;  // Llama 3's; 0.999 would not move a bf16 second moment, whose steps are 0.4 %
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices; norms do not decay
  bool fused = true;          // one kernel over all weights; else PyTorch's operators, weight by weight
};

class AdamW {
 public:
  // Takes the moments' memory at once, zeroed.
  explicit AdamW(const std::vector<Parameter>& parameters);

  // Reads every weight's `.grad` and updates weight and moments in place. Fused, it allocates nothing; else one weight's
  // denominator at a time.
  void step(const AdamWOptions& options);
  // Frees every `.grad`.
  void drop_gradients();

 private:
  struct State {
    at::Tensor weight, first_moment, second_moment;
  };
  void fused_step(const kernels::AdamWStep& step);
  void eager_step(const kernels::AdamWStep& step);

  std::vector<State> states_;
  std::int64_t steps_ = 0;
};

}  // namespace headroom::llama
