// Counts a step's gradients and updates by exponent on the device, for fp16's range and bf16's rounding.
#pragma once

#include <string>
#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/record/rows/histogram.h"

namespace headroom::llama {

// Counts of fp32 numbers by exponent; all below 2^−126 share one count.
class MagnitudeCounts {
 public:
  MagnitudeCounts(std::string name, at::Device device);

  void clear();
  // Counts x (fp32, bf16 or fp16, contiguous), multiplied by `factor` (fp32 []; undefined: 1).
  void add(const at::Tensor& x, const at::Tensor& factor = {});
  // int64 [257], by fp32's exponent field; the last entry counts zeros.
  const at::Tensor& counts() const { return counts_; }
  // Waits for the device.
  record::Histogram read(int step) const;

 private:
  std::string name_;
  at::Tensor counts_;
};

// Must be a step's first hook, before another one frees gradients. Counts gradients divided by the loss scale
// ("gradients") and, for AdamW, intended changes of weights ("updates") and the changes lost to rounding
// ("updates.lost"); a skipped step has no updates.
class StepMagnitudes final : public LayerHooks, public UpdateObserver {
 public:
  // Observes the optimizer, which must outlive this object and not step after it. `loss_scale`: fp32 [], undefined: 1.
  StepMagnitudes(Optimizer& optimizer, at::Tensor loss_scale);

  void before_layer(std::int64_t layer, record::Phase phase) override;
  void gradients_ready(std::int64_t layer) override;
  void updated(const at::Tensor& before, const at::Tensor& after, const at::Tensor& first_moment,
               const at::Tensor& second_moment, const kernels::AdamWStep& step, const kernels::AdamWControl& control,
               bool decays) override;

  // Counts of the last step. Waits for the device.
  std::vector<record::Histogram> read(int step) const;

 private:
  Optimizer& optimizer_;
  at::Tensor loss_scale_;
  bool sees_updates_ = false;
  bool counted_ = true;  // all of the step's gradients are counted; the next forward begins a new step
  MagnitudeCounts gradients_, updates_, lost_;
};

}  // namespace headroom::llama
