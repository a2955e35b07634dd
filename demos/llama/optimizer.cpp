// What optimizers share, and AdamW over all weights, by the kernel of kernels/adamw.
#include "demos/llama/optimizer.h"

#include <numeric>
#include <utility>

#include "demos/llama/labels.h"
#include "kernels/adamw/adamw_ops.h"

namespace headroom::llama {

Optimizer::Optimizer(std::vector<Parameter> parameters) : parameters_(std::move(parameters)), all_(parameters_.size()) {
  std::iota(all_.begin(), all_.end(), std::size_t{0});
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::uint16_t layer = parameters_[i].layer;
    groups_[layer == record::kNoLayer ? kOuterLayer : std::int64_t{layer}].push_back(i);
  }
}

void Optimizer::step() {
  begin_step();
  update(all_);
  end_step();
}

std::span<const std::size_t> Optimizer::group(std::int64_t layer) const {
  const auto found = groups_.find(layer);
  return found == groups_.end() ? std::span<const std::size_t>() : found->second;
}

void Optimizer::drop_gradients(std::span<const std::size_t> which) {
  for (const std::size_t i : which) parameters_[i].tensor.mutable_grad() = at::Tensor();
}

void Optimizer::drop_gradients() { drop_gradients(all_); }

record::Tag state_tag(const Parameter& parameter, std::uint16_t op) {
  return {.phase = record::Phase::kSetup,
          .category = record::Category::kOptimizerState,
          .layer = parameter.layer,
          .op = op};
}

AdamW::AdamW(std::vector<Parameter> parameters, const AdamWOptions& options)
    : Optimizer(std::move(parameters)), options_(options) {
  const at::AutoGradMode grad_mode(false);
  const auto moment = [](const Parameter& parameter, std::uint16_t op) {
    const record::Scope scope(state_tag(parameter, op));
    return at::zeros_like(parameter.tensor);
  };
  for (const Parameter& parameter : this->parameters()) {
    states_.push_back({.first_moment = moment(parameter, operators().adamw_first_moment),
                       .second_moment = moment(parameter, operators().adamw_second_moment)});
  }
}

void AdamW::begin_step() {
  ++steps_;
  step_ = kernels::adamw_step_constants(options_.learning_rate, options_.beta1, options_.beta2, options_.epsilon,
                                        options_.weight_decay, steps_);
}

void AdamW::update(std::span<const std::size_t> which) {
  const at::AutoGradMode grad_mode(false);
  options_.fused ? fused_update(which) : eager_update(which);
}

void AdamW::fused_update(std::span<const std::size_t> which) {
  const record::Scope scope(operators().adamw);  // nothing is allocated, but a trace wants to know
  std::vector<kernels::AdamWParameter> weights;
  weights.reserve(which.size());
  for (const std::size_t i : which) {
    const at::Tensor& weight = parameters()[i].tensor;
    weights.push_back({.param = weight,
                       .gradient = weight.grad(),
                       .first_moment = states_[i].first_moment,
                       .second_moment = states_[i].second_moment,
                       .decays = decays(weight)});
  }
  kernels::adamw(weights, step_);
}

void AdamW::eager_update(std::span<const std::size_t> which) {
  const record::Scope scope(record::Category::kWorkspace, operators().adamw);
  for (const std::size_t i : which) {
    const at::Tensor& weight = parameters()[i].tensor;
    const State& state = states_[i];
    const at::Tensor gradient = weight.grad().to(state.first_moment.scalar_type());
    state.first_moment.mul_(step_.beta1).add_(gradient, 1 - step_.beta1);
    state.second_moment.mul_(step_.beta2).addcmul_(gradient, gradient, 1 - step_.beta2);
    const at::Tensor denominator = state.second_moment.sqrt().mul_(step_.second_moment_scale).add_(step_.epsilon);
    if (decays(weight)) weight.mul_(step_.decay);
    weight.addcdiv_(state.first_moment, denominator, -step_.step_size);
  }
}

}  // namespace headroom::llama
