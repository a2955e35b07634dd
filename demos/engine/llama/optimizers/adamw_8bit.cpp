// 8-bit AdamW by kernels/adamw_8bit.
#include "demos/engine/llama/optimizers/adamw_8bit.h"

#include <utility>

#include "demos/engine/llama/model/labels.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"

namespace headroom::llama {

AdamW8bit::AdamW8bit(std::vector<Parameter> parameters, const AdamWOptions& options)
    : AdamWFamily(std::move(parameters), options) {
  const at::AutoGradMode grad_mode(false);
  for (const Parameter& parameter : this->parameters()) {
    const std::int64_t n = parameter.tensor.numel(), blocks = kernels::quantised_blocks(n);
    states_.push_back({.m_codes = zeros(parameter, number_of(Op::kFirstMoment), {n}, at::kByte),
                       .m_absmax = zeros(parameter, number_of(Op::kFirstMoment), {blocks}, at::kFloat),
                       .v_codes = zeros(parameter, number_of(Op::kSecondMoment), {n}, at::kByte),
                       .v_absmax = zeros(parameter, number_of(Op::kSecondMoment), {blocks}, at::kFloat)});
  }
}

std::vector<StateTensor> AdamW8bit::state() {
  std::vector<StateTensor> all = AdamWFamily::state();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::string& name = parameters()[i].name;
    const std::optional<Part> codes = in_blocks(parameters()[i].part, 1),
                              absmax = in_blocks(parameters()[i].part, kernels::kQuantisedBlock);
    append(all, name + ".first_moment.codes", states_[i].m_codes, codes);
    append(all, name + ".first_moment.absmax", states_[i].m_absmax, absmax);
    append(all, name + ".second_moment.codes", states_[i].v_codes, codes);
    append(all, name + ".second_moment.absmax", states_[i].v_absmax, absmax);
  }
  return all;
}

void AdamW8bit::update(std::span<const std::size_t> which) {
  const at::AutoGradMode grad_mode(false);
  const kernels::AdamWControl control = control_for(which);
  const record::Scope scope(number_of(Op::kAdamW));
  std::vector<kernels::AdamW8bitParameter> weights;
  weights.reserve(which.size());
  for (const std::size_t i : which) {
    const at::Tensor& weight = parameters()[i].tensor;
    weights.push_back({.param = stepped(i),
                       .gradient = weight.grad(),
                       .m_codes = states_[i].m_codes,
                       .m_absmax = states_[i].m_absmax,
                       .v_codes = states_[i].v_codes,
                       .v_absmax = states_[i].v_absmax,
                       .decays = decays(i),
                       .working = working(i),
                       .number = static_cast<std::int64_t>(i)});
  }
  kernels::adamw_8bit(weights, step_constants(), control);
}

}  // namespace headroom::llama
