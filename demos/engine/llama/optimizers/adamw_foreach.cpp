// The order of operators is PyTorch's, so that its temporary tensors are the same.
#include "demos/engine/llama/optimizers/adamw_foreach.h"

#include <utility>

#include "demos/engine/llama/model/labels.h"

namespace headroom::llama {

AdamWForeach::AdamWForeach(std::vector<Parameter> parameters, const AdamWOptions& options)
    : AdamWFamily(std::move(parameters), options) {
  const at::AutoGradMode grad_mode(false);
  for (const Parameter& parameter : this->parameters())
    add_moments(parameter.tensor.sizes(), parameter.tensor.scalar_type());
}

void AdamWForeach::update(std::span<const std::size_t> which) {
  if (which.empty()) return;
  const at::AutoGradMode grad_mode(false);
  const at::Tensor clip = options().clip > 0 ? clip_factor(which) : at::Tensor();
  const record::Scope scope(record::Category::kWorkspace, number_of(Op::kAdamW));
  const kernels::AdamWStep& step = step_constants();
  std::vector<at::Tensor> weights, decayed, gradients, first, second;
  for (const std::size_t i : which) {
    weights.push_back(parameters()[i].tensor);
    if (decays(i)) decayed.push_back(weights.back());
    gradients.push_back(weights.back().grad());
    first.push_back(moments(i).first);
    second.push_back(moments(i).second);
    if (clip.defined()) gradients.back().mul_(clip.to(gradients.back().scalar_type()));
  }
  if (!decayed.empty()) at::_foreach_mul_(decayed, step.decay);
  at::_foreach_lerp_(first, gradients, 1 - step.beta1);
  at::_foreach_mul_(second, step.beta2);
  at::_foreach_addcmul_(second, gradients, gradients, 1 - step.beta2);
  std::vector<at::Tensor> denominators = at::_foreach_sqrt(second);
  at::_foreach_mul_(denominators, step.second_moment_scale);
  at::_foreach_add_(denominators, step.epsilon);
  at::_foreach_addcdiv_(weights, first, denominators, -step.step_size);
}

}  // namespace headroom::llama
