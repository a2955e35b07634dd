// Dynamic loss scaling: fp16 gradients below 6.0e-8 would vanish, so backward runs on a multiple of the loss. The whole
// of it happens on the device; the host never waits to learn whether a step overflowed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/state_tensor.h"

namespace headroom::llama {

// Micikevicius et al. 2018, arXiv:1710.03740, section 3.2: a step with an infinity or a NaN among its gradients changes
// nothing and halves the scale; `window` steps in a row without one double it.
class LossScale {
 public:
  LossScale(double initial, std::int64_t window, at::Device device);

  // fp32 [], what backward begins with, and its inverse; int32 [1], not 0 once a gradient of this step was not finite.
  const at::Tensor& scale() const { return scale_; }
  const at::Tensor& inverse() const { return inverse_; }
  const at::Tensor& overflow() const { return overflow_; }

  // Before gradients are used; any number of times in a step.
  void look_at(std::span<const at::Tensor> gradients);
  // Ends the step: moves the scale, forgets the overflow.
  void update();

  // These wait for the device. What the last step's loss was multiplied by, and the steps that were skipped so far.
  double last_scale() const;
  std::int64_t skipped_steps() const;
  std::vector<StateTensor> state() const;

 private:
  std::int64_t window_;
  at::Tensor scale_, inverse_, last_scale_;  // fp32 []
  at::Tensor good_steps_, overflow_;         // int32 [1]
  at::Tensor skipped_;                       // int64 [1]
};

}  // namespace headroom::llama
