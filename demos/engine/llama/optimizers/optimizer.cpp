// Shared parts of optimizers, and AdamW by kernels/adamw.
#include "demos/engine/llama/optimizers/optimizer.h"

#include <numeric>
#include <utility>

#include "demos/engine/llama/model/labels.h"
#include "kernels/gradient_check/gradient_check_ops.h"

namespace headroom::llama {

Optimizer::Optimizer(std::vector<Parameter> parameters) : parameters_(std::move(parameters)), all_(parameters_.size()) {
  std::iota(all_.begin(), all_.end(), std::size_t{0});
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::uint16_t layer = parameters_[i].layer;
    groups_[layer == record::kNoLayer ? kOuterLayer : std::int64_t{layer}].push_back(i);
  }
}

void Optimizer::step(const std::function<void()>& outer_ready) {
  const bool in_two = outer_ready && !needs_all_gradients();
  begin_step();
  if (in_two) {
    std::vector<std::size_t> of_layers = all_;
    std::erase_if(of_layers, [this](std::size_t i) { return parameters_[i].layer == record::kNoLayer; });
    update(with_gradient(of_layers));
  }
  if (outer_ready) outer_ready();
  update(with_gradient(in_two ? group(kOuterLayer) : all_));
  end_step();
}

std::vector<std::size_t> Optimizer::with_gradient(std::span<const std::size_t> which) const {
  std::vector<std::size_t> waiting;
  for (const std::size_t i : which)
    if (parameters_[i].tensor.grad().defined()) waiting.push_back(i);
  return waiting;
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

AdamWFamily::AdamWFamily(std::vector<Parameter> parameters, const AdamWOptions& options)
    : Optimizer(std::move(parameters)), options_(options) {
  const at::AutoGradMode grad_mode(false);
  for (const Parameter& parameter : this->parameters()) {
    const bool master = options_.masters && parameter.tensor.scalar_type() != at::kFloat;
    const record::Scope scope(state_tag(parameter, number_of(Op::kMaster)));
    masters_.push_back(master ? parameter.tensor.detach().to(at::kFloat) : at::Tensor());
    if (master && options_.stored) options_.stored(parameter, parameter.first(), masters_.back().view({-1}));
  }
  if (options_.clip > 0 && !this->parameters().empty()) {
    const record::Scope scope(record::Category::kOptimizerState, number_of(Op::kClip));
    std::int64_t sums = 0;
    for (const Parameter& parameter : this->parameters()) sums += kernels::norm_blocks(parameter.tensor.numel());
    const at::TensorOptions on = at::TensorOptions().device(this->parameters().front().tensor.device());
    clip_sums_ = at::empty({sums}, on.dtype(at::kDouble));
    clip_ = at::empty({}, on.dtype(at::kFloat));
  }
  if ((options_.loss_scale == nullptr && !options_.count_on_device) || this->parameters().empty()) return;
  const record::Scope scope(record::Category::kOptimizerState, number_of(Op::kStepCount));
  step_count_ = at::zeros({1}, this->parameters().front().tensor.options().dtype(at::kLong).requires_grad(false));
}

void AdamWFamily::begin_step() {
  if (std::exchange(in_step_, true)) return;
  counted_ = false;
  ++steps_;
  step_ = kernels::adamw_step_constants(options_.learning_rate, options_.beta1, options_.beta2, options_.epsilon,
                                        options_.weight_decay, steps_);
}

void AdamWFamily::end_step() {
  in_step_ = false;
  if (options_.loss_scale != nullptr) options_.loss_scale->update();
}

std::vector<StateTensor> AdamWFamily::state() {
  std::vector<StateTensor> all{{"steps", at::from_blob(&steps_, {1}, at::kLong)}};
  append(all, "step_count", step_count_);
  for (std::size_t i = 0; i < masters_.size(); ++i)
    append(all, parameters()[i].name + ".master", masters_[i], parameters()[i].part);
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    append(all, parameters()[i].name + ".first_moment", moments_[i].first, parameters()[i].part);
    append(all, parameters()[i].name + ".second_moment", moments_[i].second, parameters()[i].part);
  }
  return all;
}

at::ScalarType AdamWFamily::moment_type(std::size_t i) const {
  return options_.moments.value_or(stepped(i).scalar_type());
}

at::Tensor AdamWFamily::zeros(const Parameter& parameter, std::uint16_t op, at::IntArrayRef shape,
                              at::ScalarType type) const {
  const record::Scope scope(state_tag(parameter, op));
  if (options_.paged != nullptr) return options_.paged->empty(shape, type, HostPages::kManaged).zero_();
  return at::zeros(shape, parameter.tensor.options().dtype(type).requires_grad(false));
}

std::vector<at::Tensor> AdamWFamily::gradients_of(std::span<const std::size_t> which) const {
  std::vector<at::Tensor> gradients;
  gradients.reserve(which.size());
  for (const std::size_t i : which) gradients.push_back(parameters()[i].tensor.grad());
  return gradients;
}

const at::Tensor& AdamWFamily::clip_factor(std::span<const std::size_t> which) {
  const record::Scope scope(number_of(Op::kAdamW));  // names the launch in traces
  const at::Tensor inverse_scale = options_.loss_scale != nullptr ? options_.loss_scale->inverse() : at::Tensor();
  if (!sum_over_shards()) {
    kernels::clip_factor_(gradients_of(which), options_.clip, inverse_scale, clip_sums_, clip_);
    return clip_;
  }
  std::vector<at::Tensor> counted;
  for (const std::size_t i : which)
    if (const Parameter& each = parameters()[i]; !each.part || !each.part->elsewhere)
      counted.push_back(each.tensor.grad());
  clip_sums_.zero_();
  kernels::sums_of_squares_(counted, clip_sums_);
  sum_over_shards()(clip_sums_);
  kernels::clip_factor_of_(clip_sums_, options_.clip, inverse_scale, clip_);
  return clip_;
}

kernels::AdamWControl AdamWFamily::control_for(std::span<const std::size_t> which) {
  kernels::AdamWControl control{.stochastic_rounding = options_.stochastic_rounding, .seed = options_.seed};
  if (options_.loss_scale != nullptr) {
    options_.loss_scale->look_at(gradients_of(which));
    if (sum_over_shards()) sum_over_shards()(options_.loss_scale->overflow());
    control.inverse_scale = options_.loss_scale->inverse();
    control.overflow = options_.loss_scale->overflow();
  }
  if (options_.clip > 0) control.inverse_scale = clip_factor(which);
  if (step_count_.defined()) {
    if (!std::exchange(counted_, true)) kernels::advance_step_count_(step_count_, control.overflow);
    control.step_count = step_count_;
  }
  return control;
}

void AdamWFamily::add_moments(at::IntArrayRef shape, at::ScalarType type) {
  const Parameter& parameter = parameters()[moments_.size()];
  moments_.push_back({.first = zeros(parameter, number_of(Op::kFirstMoment), shape, type),
                      .second = zeros(parameter, number_of(Op::kSecondMoment), shape, type)});
}

void AdamWFamily::fused_update(std::span<const std::size_t> which, const kernels::AdamWControl& control) const {
  const record::Scope scope(number_of(Op::kAdamW));
  std::vector<kernels::AdamWParameter> weights;
  weights.reserve(which.size());
  for (const std::size_t i : which) {
    const at::Tensor& weight = parameters()[i].tensor;
    weights.push_back({.param = stepped(i),
                       .gradient = weight.grad(),
                       .first_moment = moments_[i].first,
                       .second_moment = moments_[i].second,
                       .decays = decays(i),
                       .working = working(i),
                       .number = static_cast<std::int64_t>(i)});
  }
  kernels::adamw(weights, step_constants(), control);
}

AdamW::AdamW(std::vector<Parameter> parameters, const AdamWOptions& options)
    : AdamWFamily(std::move(parameters), options) {
  const at::AutoGradMode grad_mode(false);
  for (std::size_t i = 0; i < this->parameters().size(); ++i)
    add_moments(this->parameters()[i].tensor.sizes(), moment_type(i));
}

void AdamW::update(std::span<const std::size_t> which) {
  const at::AutoGradMode grad_mode(false);
  if (!options().fused) {
    const at::Tensor clip = options().clip > 0 ? clip_factor(which) : at::Tensor();
    for (const std::size_t i : which) eager_update(i, clip);
    return;
  }
  const kernels::AdamWControl control = control_for(which);
  if (observer_ == nullptr) return fused_update(which, control);
  for (const std::size_t i : which) observed_update(i, control);
}

void AdamW::observed_update(std::size_t i, const kernels::AdamWControl& control) {
  const record::Scope scope(record::Category::kWorkspace, number_of(Op::kAdamW));
  const at::Tensor& weight = parameters()[i].tensor;
  const at::Tensor before = weight.detach().clone();
  fused_update(std::span(&i, 1), control);
  observer_->updated(before, weight.detach(), moments(i).first, moments(i).second, step_constants(), control,
                     decays(i));
}

void AdamW::eager_update(std::size_t i, const at::Tensor& clip) {
  const record::Scope scope(record::Category::kWorkspace, number_of(Op::kAdamW));
  const kernels::AdamWStep& step = step_constants();
  const auto& [first, second] = moments(i);
  at::Tensor weight = stepped(i);
  const at::Tensor gradient = parameters()[i].tensor.grad().to(first.scalar_type());
  if (clip.defined()) gradient.mul_(clip.to(gradient.scalar_type()));  // `.grad` itself, or its copy
  first.mul_(step.beta1).add_(gradient, 1 - step.beta1);
  second.mul_(step.beta2).addcmul_(gradient, gradient, 1 - step.beta2);
  const at::Tensor denominator = second.sqrt().mul_(step.second_moment_scale).add_(step.epsilon);
  if (decays(i)) weight.mul_(step.decay);
  weight.addcdiv_(first, denominator, -step.step_size);
  if (at::Tensor copy = working(i); copy.defined()) copy.copy_(weight);
}

}  // namespace headroom::llama
