// The loss scale, updated by kernels/gradient_check.
#include "demos/engine/llama/step/loss_scaling.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/record/scope.h"
#include "kernels/gradient_check/gradient_check_ops.h"

namespace headroom::llama {

LossScale::LossScale(double initial, std::int64_t window, at::Device device) : window_(window) {
  const record::Scope scope(record::Category::kOptimizerState, number_of(Op::kLossScale));
  const auto on = at::TensorOptions().device(device);
  scale_ = at::full({}, initial, on.dtype(at::kFloat));
  inverse_ = at::full({}, 1 / initial, on.dtype(at::kFloat));
  last_scale_ = at::full({}, initial, on.dtype(at::kFloat));
  good_steps_ = at::zeros({1}, on.dtype(at::kInt));
  overflow_ = at::zeros({1}, on.dtype(at::kInt));
  skipped_ = at::zeros({1}, on.dtype(at::kLong));
}

void LossScale::look_at(std::span<const at::Tensor> gradients) {
  const record::Scope scope(number_of(Op::kLossScale));
  kernels::check_finite_(gradients, overflow_);
}

void LossScale::update() {
  const record::Scope scope(number_of(Op::kLossScale));
  last_scale_.copy_(scale_);
  kernels::update_loss_scale_(scale_, inverse_, good_steps_, overflow_, skipped_, window_);
}

double LossScale::last_scale() const { return last_scale_.item<double>(); }

std::int64_t LossScale::skipped_steps() const { return skipped_.item<std::int64_t>(); }

std::vector<StateTensor> LossScale::state() const {
  std::vector<StateTensor> all;
  append(all, "loss_scale", scale_);
  append(all, "loss_scale.inverse", inverse_);
  append(all, "loss_scale.last", last_scale_);
  append(all, "loss_scale.good_steps", good_steps_);
  append(all, "loss_scale.skipped_steps", skipped_);
  return all;
}

}  // namespace headroom::llama
