// Dynamic loss scaling: fp16 gradients below 6.0e-8 would vanish, so backward runs on a multiple of the loss. The host
// never waits to learn of an overflow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/weights/state_tensor.h"

namespace headroom::llama {

// A step with an infinity or a NaN in its gradients changes nothing and halves the scale; `window` consecutive steps
// without one double it. Micikevicius et al. 2018, arXiv:1710.03740, section 3.2.
class LossScale {
 public:
  LossScale(double initial, std::int64_t window, at::Device device);

  // The gradient that backward begins with, fp32 [], and its inverse.
  const at::Tensor& scale() const { return scale_; }
  const at::Tensor& inverse() const { return inverse_; }
  // int32 [1], nonzero if a gradient of this step was not finite.
  const at::Tensor& overflow() const { return overflow_; }

  // Checks gradients for overflow, before their use.
  void look_at(std::span<const at::Tensor> gradients);
  // Updates the scale and clears the overflow.
  void update();

  // The last step's scale, and the number of steps skipped so far. Both calls wait for the device.
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
