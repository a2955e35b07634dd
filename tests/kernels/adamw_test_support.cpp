// AdamW three ways: float64, our kernel, PyTorch's operators.
#include "tests/kernels/adamw_test_support.h"

#include <cmath>

#include "kernels/adamw/adamw_ops.h"

namespace headroom::test {

namespace {

constexpr double kLearningRate = 1e-2, kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8, kWeightDecay = 0.1;

struct Tensors {
  at::Tensor param, gradient, first_moment, second_moment;
};

Tensors make_tensors(std::int64_t n, std::int64_t offset, at::ScalarType type, at::Device device) {
  at::manual_seed(1);
  const auto random = [&](double scale) {
    const at::Tensor values = at::randn({n + offset}, at::kDouble) * scale;
    return values.to(type).to(device).narrow(0, offset, n);
  };
  return {.param = random(1),
          .gradient = random(1e-2),
          .first_moment = random(1e-3),
          .second_moment = random(1e-2).square()};
}

void torch_step(Tensors& t, std::int64_t step) {
  t.param.mul_(1 - kLearningRate * kWeightDecay);
  t.first_moment.lerp_(t.gradient, 1 - kBeta1);
  t.second_moment.mul_(kBeta2).addcmul_(t.gradient, t.gradient, 1 - kBeta2);
  const double correction1 = 1 - std::pow(kBeta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(kBeta2, static_cast<double>(step));
  const at::Tensor denominator = (t.second_moment.sqrt() / std::sqrt(correction2)).add_(kEpsilon);
  t.param.addcdiv_(t.first_moment, denominator, -kLearningRate / correction1);
}

double relative_error(const at::Tensor& value, const at::Tensor& exact) {
  const at::Tensor reference = exact.to(at::kCPU);
  return ((value.to(at::kCPU).to(at::kDouble) - reference).abs().max() / reference.abs().max()).item<double>();
}

}  // namespace

AdamWErrors adamw_errors(std::int64_t n, std::int64_t offset, at::ScalarType type, at::Device device) {
  Tensors ours = make_tensors(n, offset, type, device);
  Tensors theirs = make_tensors(n, offset, type, device);
  const at::Tensor gradient = ours.gradient;
  kernels::AdamWReference exact{.param = ours.param.to(at::kCPU).to(at::kDouble),
                                .first_moment = ours.first_moment.to(at::kCPU).to(at::kDouble),
                                .second_moment = ours.second_moment.to(at::kCPU).to(at::kDouble)};
  for (std::int64_t step = 1; step <= 3; ++step) {
    kernels::adamw(ours.param, gradient, ours.first_moment, ours.second_moment,
                   kernels::adamw_step_constants(kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, step));
    torch_step(theirs, step);
    exact = kernels::adamw_reference(exact.param, gradient.to(at::kCPU), exact.first_moment, exact.second_moment,
                                     kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay, step);
  }
  return {.kernel_param = relative_error(ours.param, exact.param),
          .kernel_first = relative_error(ours.first_moment, exact.first_moment),
          .kernel_second = relative_error(ours.second_moment, exact.second_moment),
          .torch_param = relative_error(theirs.param, exact.param),
          .torch_first = relative_error(theirs.first_moment, exact.first_moment),
          .torch_second = relative_error(theirs.second_moment, exact.second_moment)};
}

}  // namespace headroom::test
