// AdamW in float64, by our kernel and by PyTorch's operators.
#include "tests/kernels/adamw_test_support.h"

#include <cmath>
#include <span>
#include <vector>

#include "tests/kernels/kernel_checks.h"

namespace headroom::tests {

namespace {

constexpr double kLearningRate = 1e-2, kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8, kWeightDecay = 0.1;

void torch_step(kernels::AdamWParameter& t, std::int64_t step) {
  const at::Tensor g = t.gradient.to(t.first_moment.scalar_type());
  t.param.mul_(1 - kLearningRate * kWeightDecay);
  t.first_moment.lerp_(g, 1 - kBeta1);
  t.second_moment.mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
  const double correction1 = 1 - std::pow(kBeta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(kBeta2, static_cast<double>(step));
  const at::Tensor denominator = (t.second_moment.sqrt() / std::sqrt(correction2)).add_(kEpsilon);
  const at::Tensor update = (t.first_moment / denominator).mul_(-kLearningRate / correction1);
  t.param.add_(update.to(t.param.scalar_type()));
}

}  // namespace

kernels::AdamWParameter adamw_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device) {
  at::manual_seed(1);
  const auto random = [&](double scale, at::ScalarType type) {
    const at::Tensor values = at::randn({n + offset}, at::kDouble) * scale;
    return values.to(type).to(device).narrow(0, offset, n);
  };
  return {.param = random(1, types.param),
          .gradient = random(1e-2, types.gradient),
          .first_moment = random(1e-3, types.moment),
          .second_moment = random(1e-2, types.moment).square_()};
}

kernels::AdamWParameter adamw_copy_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types,
                                           at::Device device) {
  kernels::AdamWParameter tensors = adamw_tensors(n, offset, {at::kFloat, types.gradient, types.moment}, device);
  tensors.working = at::empty({n + offset}, tensors.param.options().dtype(types.param)).narrow(0, offset, n);
  tensors.working.copy_(tensors.param);
  return tensors;
}

kernels::AdamWStep adamw_constants(std::int64_t t) {
  return kernels::adamw_step_constants(kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, t);
}

kernels::AdamWParameter on_device(const kernels::AdamWParameter& tensors, at::Device device) {
  kernels::AdamWParameter moved = tensors;
  for (at::Tensor* t : {&moved.param, &moved.gradient, &moved.first_moment, &moved.second_moment, &moved.working}) {
    if (t->defined()) *t = t->to(device).clone();
  }
  return moved;
}

bool same_bits(const kernels::AdamWParameter& a, const kernels::AdamWParameter& b) {
  const auto same = [](const at::Tensor& x, const at::Tensor& y) {
    if (!x.defined()) return !y.defined();
    return same_bits(x.to(at::kCPU), y.to(at::kCPU));
  };
  return same(a.param, b.param) && same(a.first_moment, b.first_moment) && same(a.second_moment, b.second_moment) &&
         same(a.working, b.working);
}

kernels::AdamWControl adamw_control(int k, bool overflow, std::int64_t t, at::Device device) {
  const auto options = at::TensorOptions().device(device);
  return {.inverse_scale = at::full({}, std::ldexp(1.0, -k), options.dtype(at::kFloat)),
          .overflow = at::full({1}, overflow ? 1 : 0, options.dtype(at::kInt)),
          .step_count = at::full({1}, t, options.dtype(at::kLong))};
}

AdamWErrors adamw_errors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device) {
  kernels::AdamWParameter ours = adamw_tensors(n, offset, types, device);
  kernels::AdamWParameter theirs = adamw_tensors(n, offset, types, device);
  kernels::AdamWReference exact{.param = ours.param.to(at::kCPU).to(at::kDouble),
                                .first_moment = ours.first_moment.to(at::kCPU).to(at::kDouble),
                                .second_moment = ours.second_moment.to(at::kCPU).to(at::kDouble)};
  for (std::int64_t step = 1; step <= 3; ++step) {
    kernels::adamw(std::span(&ours, 1), adamw_constants(step));
    torch_step(theirs, step);
    exact = kernels::adamw_reference(exact.param, ours.gradient.to(at::kCPU), exact.first_moment, exact.second_moment,
                                     kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, step);
  }
  return {.kernel_param = relative_error(ours.param, exact.param),
          .kernel_first = relative_error(ours.first_moment, exact.first_moment),
          .kernel_second = relative_error(ours.second_moment, exact.second_moment),
          .torch_param = relative_error(theirs.param, exact.param),
          .torch_first = relative_error(theirs.first_moment, exact.first_moment),
          .torch_second = relative_error(theirs.second_moment, exact.second_moment)};
}

bool adamw_together_as_alone(at::Device device) {
  std::vector<kernels::AdamWParameter> together, alone;
  for (std::int64_t i = 0; i < 800; ++i) {
    const AdamWTypes& types = kAdamWTypes[i % 3];
    const std::int64_t n = i % 50 == 0 ? 20'000 + i : i % 40;  // some empty, some with several blocks
    for (auto* list : {&together, &alone}) {
      list->push_back(adamw_tensors(n, i % 2, types, device));
      list->back().decays = i % 7 != 0;
    }
  }
  kernels::adamw(together, adamw_constants(1));
  bool same = true;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    kernels::adamw(std::span(&alone[i], 1), adamw_constants(1));
    same = same && together[i].param.equal(alone[i].param) && together[i].first_moment.equal(alone[i].first_moment) &&
           together[i].second_moment.equal(alone[i].second_moment);
  }
  return same;
}

}  // namespace headroom::tests
