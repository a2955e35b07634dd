// AdamW three ways: float64, our kernel, PyTorch's operators.
#include "tests/kernels/adamw_test_support.h"

#include <cmath>
#include <span>
#include <vector>

namespace headroom::test {

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

kernels::AdamWStep constants(std::int64_t step) {
  return kernels::adamw_step_constants(kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, step);
}

double relative_error(const at::Tensor& value, const at::Tensor& exact) {
  const at::Tensor reference = exact.to(at::kCPU);
  return ((value.to(at::kCPU).to(at::kDouble) - reference).abs().max() / reference.abs().max()).item<double>();
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

AdamWErrors adamw_errors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device) {
  kernels::AdamWParameter ours = adamw_tensors(n, offset, types, device);
  kernels::AdamWParameter theirs = adamw_tensors(n, offset, types, device);
  kernels::AdamWReference exact{.param = ours.param.to(at::kCPU).to(at::kDouble),
                                .first_moment = ours.first_moment.to(at::kCPU).to(at::kDouble),
                                .second_moment = ours.second_moment.to(at::kCPU).to(at::kDouble)};
  for (std::int64_t step = 1; step <= 3; ++step) {
    kernels::adamw(std::span(&ours, 1), constants(step));
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
    const std::int64_t n = i % 50 == 0 ? 20'000 + i : i % 40;  // some of no elements, some of several blocks
    for (auto* list : {&together, &alone}) {
      list->push_back(adamw_tensors(n, i % 2, types, device));
      list->back().decays = i % 7 != 0;
    }
  }
  kernels::adamw(together, constants(1));
  bool same = true;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    kernels::adamw(std::span(&alone[i], 1), constants(1));
    same = same && together[i].param.equal(alone[i].param) && together[i].first_moment.equal(alone[i].first_moment) &&
           together[i].second_moment.equal(alone[i].second_moment);
  }
  return same;
}

}  // namespace headroom::test
