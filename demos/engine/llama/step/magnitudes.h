// Counts a step's gradients and updates by exponent on the device, for fp16's range and bf16's rounding.
#pragma once

#include <string>
#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/record/rows/histogram.h"

namespace headroom::llama {

// Counts of fp32 numbers by exponent; those below 2^−126 share one.
class MagnitudeCounts {
 public:
  MagnitudeCounts(std::string name, at::Device device);

  void clear();
  // x: fp32, bf16 or fp16, contiguous; multiplied by `factor` (fp32 []; undefined: 1).
  void add(const at::Tensor& x, const at::Tensor& factor = {});
  const at::Tensor& counts() const { return counts_; }  // int64 [257], by fp32's exponent field; the last: zeros
  // Waits for the device.
  record::Histogram read(int step) const;

 private:
  std::string name_;
  at::Tensor counts_;
};

// Must be the first of a step's hooks, before another one frees gradients. Counts gradients without the loss scale
// ("gradients") and, for AdamW, intended changes of weights ("updates") and those lost to rounding ("updates.lost");
// none of a skipped step.
class StepMagnitudes final : public LayerHooks, public UpdateObserver {
 public:
  // Observes the optimizer, which must outlive this and not step afterwards. `loss_scale`: fp32 [], undefined: 1.
  StepMagnitudes(Optimizer& optimizer, at::Tensor loss_scale);

  void before_layer(std::int64_t layer, record::Phase phase) override;
  void gradients_ready(std::int64_t layer) override;
  void updated(const at::Tensor& before, const at::Tensor& after, const at::Tensor& first_moment,
               const at::Tensor& second_moment, const kernels::AdamWStep& step, const kernels::AdamWControl& control,
               bool decays) override;

  // For the last step. Waits for the device.
  std::vector<record::Histogram> read(int step) const;

 private:
  Optimizer& optimizer_;
  at::Tensor loss_scale_;
  bool sees_updates_ = false;
  bool counted_ = true;  // all gradients of the step; the next forward begins a new one
  MagnitudeCounts gradients_, updates_, lost_;
};

}  // namespace headroom::llama
