// How large a step's gradients and updates are, counted by exponent on the device: what fp16's range and bf16's rounding
// would leave of them.
#pragma once

#include <string>
#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/record/histogram.h"

namespace headroom::llama {

// Counts of fp32 numbers by the exponent of their magnitude; those below 2^−126 are counted together.
class MagnitudeCounts {
 public:
  MagnitudeCounts(std::string name, at::Device device);

  void clear();
  // x in fp32, bf16 or fp16, contiguous, multiplied by `factor` (fp32 []; undefined: 1).
  void add(const at::Tensor& x, const at::Tensor& factor = {});
  const at::Tensor& counts() const { return counts_; }  // int64 [257]: by fp32's exponent field; the last one: zeros
  // Waits for the device.
  record::Histogram read(int step) const;

 private:
  std::string name_;
  at::Tensor counts_;
};

// The first of a step's hooks: it looks at gradients before another hook drops them. They are counted as they are without
// loss scale ("gradients"). Where the optimizer is AdamW also the changes that it wants to make to the weights
// ("updates"), and those of weights that rounding left as they were ("updates.lost"); of a step that was skipped none.
class StepMagnitudes final : public LayerHooks, public UpdateObserver {
 public:
  // Observes the optimizer, which must outlive this or its own last step. `loss_scale`: fp32 [], undefined: 1.
  StepMagnitudes(Optimizer& optimizer, at::Tensor loss_scale);

  void before_layer(std::int64_t layer, record::Phase phase) override;
  void gradients_ready(std::int64_t layer) override;
  void updated(const at::Tensor& before, const at::Tensor& after, const at::Tensor& first_moment,
               const at::Tensor& second_moment, const kernels::AdamWStep& step, const kernels::AdamWControl& control,
               bool decays) override;

  // Of the last step. Waits for the device.
  std::vector<record::Histogram> read(int step) const;

 private:
  Optimizer& optimizer_;
  at::Tensor loss_scale_;
  bool sees_updates_ = false;
  bool counted_ = true;  // the step's gradients; the next forward begins a new one
  MagnitudeCounts gradients_, updates_, lost_;
};

}  // namespace headroom::llama
