// AdamW over all weights, by the kernel of kernels/adamw.
#include "demos/llama/optimizer.h"

#include "demos/llama/labels.h"
#include "kernels/adamw/adamw_ops.h"

namespace headroom::llama {

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
  for (const State& state : states_) {
    const double weight_decay = state.weight.dim() > 1 ? options.weight_decay : 0;
    const kernels::AdamWStep step = kernels::adamw_step_constants(options.learning_rate, options.beta1, options.beta2,
                                                                  options.epsilon, weight_decay, steps_);
    kernels::adamw(state.weight, state.weight.grad(), state.first_moment, state.second_moment, step);
  }
}

void AdamW::drop_gradients() {
  for (State& state : states_) state.weight.mutable_grad() = at::Tensor();
}

}  // namespace headroom::llama
