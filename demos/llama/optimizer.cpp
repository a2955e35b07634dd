// AdamW over all weights, by the kernel of kernels/adamw.
#include "demos/llama/optimizer.h"

#include "demos/llama/labels.h"
#include "kernels/adamw/adamw_ops.h"

namespace headroom::llama {

namespace {

bool decays(const at::Tensor& weight) { return weight.dim() > 1; }

}  // namespace

AdamW::AdamW(const std::vector<Parameter>& parameters) {
  const at::AutoGradMode grad_mode(false);
  const auto moment = [](const Parameter& parameter, std::uint16_t op) {
    const record::Scope scope(record::Tag{.phase = record::Phase::kSetup,
                                          .category = record::Category::kOptimizerState,
                                          .layer = parameter.layer,
                                          .op = op});
    return at::zeros_like(parameter.tensor);
  };
  for (const Parameter& parameter : parameters) {
    states_.push_back({.weight = parameter.tensor,
                       .first_moment = moment(parameter, operators().adamw_first_moment),
                       .second_moment = moment(parameter, operators().adamw_second_moment)});
  }
}

void AdamW::step(const AdamWOptions& options) {
  const at::AutoGradMode grad_mode(false);
  ++steps_;
  const kernels::AdamWStep step = kernels::adamw_step_constants(options.learning_rate, options.beta1, options.beta2,
                                                                options.epsilon, options.weight_decay, steps_);
  options.fused ? fused_step(step) : eager_step(step);
}

void AdamW::fused_step(const kernels::AdamWStep& step) {
  const record::Scope scope(operators().adamw);  // nothing is allocated, but a trace wants to know
  std::vector<kernels::AdamWParameter> weights;
  weights.reserve(states_.size());
  for (const State& state : states_) {
    weights.push_back({.param = state.weight,
                       .gradient = state.weight.grad(),
                       .first_moment = state.first_moment,
                       .second_moment = state.second_moment,
                       .decays = decays(state.weight)});
  }
  kernels::adamw(weights, step);
}

void AdamW::eager_step(const kernels::AdamWStep& step) {
  const record::Scope scope(record::Category::kWorkspace, operators().adamw);
  for (State& state : states_) {
    const at::Tensor gradient = state.weight.grad().to(state.first_moment.scalar_type());
    state.first_moment.mul_(step.beta1).add_(gradient, 1 - step.beta1);
    state.second_moment.mul_(step.beta2).addcmul_(gradient, gradient, 1 - step.beta2);
    const at::Tensor denominator = state.second_moment.sqrt().mul_(step.second_moment_scale).add_(step.epsilon);
    if (decays(state.weight)) state.weight.mul_(step.decay);
    state.weight.addcdiv_(state.first_moment, denominator, -step.step_size);
  }
}

void AdamW::drop_gradients() {
  for (State& state : states_) state.weight.mutable_grad() = at::Tensor();
}

}  // namespace headroom::llama
