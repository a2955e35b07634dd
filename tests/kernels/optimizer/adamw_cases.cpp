// AdamW on any device, against float64 and PyTorch.
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "kernels/adamw/adamw_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/optimizer/adamw_tensors.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

void torch_step(kernels::AdamWParameter& t, std::int64_t step) {
  const at::Tensor g = t.gradient.to(t.first_moment.scalar_type());
  t.param.mul_(1 - tests::kLearningRate * tests::kWeightDecay);
  t.first_moment.lerp_(g, 1 - tests::kBeta1);
  t.second_moment.mul_(tests::kBeta2).addcmul_(g, g, 1 - tests::kBeta2);
  const double correction1 = 1 - std::pow(tests::kBeta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(tests::kBeta2, static_cast<double>(step));
  const at::Tensor denominator = (t.second_moment.sqrt() / std::sqrt(correction2)).add_(tests::kEpsilon);
  const at::Tensor update = (t.first_moment / denominator).mul_(-tests::kLearningRate / correction1);
  t.param.add_(update.to(t.param.scalar_type()));
}

}  // namespace

TEST_CASE("AdamW has at most twice the error of PyTorch's operators") {
  const tests::AdamWTypes types = GENERATE(from_range(std::begin(tests::kAdamWTypes), std::end(tests::kAdamWTypes)));
  const at::Device device = tests::tested_device();
  // The CPU splits 100,003 weights among threads. Offset 1 prevents a GPU's 16-byte loads.
  const std::int64_t n =
      device.is_cuda() ? GENERATE(1, 7, 8, 255, 4096, 100'003, 4'194'304) : GENERATE(1, 7, 1000, 100'003);
  const std::int64_t offset = device.is_cuda() ? GENERATE(0, 1, 8) : 3;
  CAPTURE(n, offset, types.param, types.gradient, types.moment);
  kernels::AdamWParameter ours = tests::adamw_tensors(n, offset, types, device);
  kernels::AdamWParameter theirs = tests::adamw_tensors(n, offset, types, device);
  kernels::AdamWReference exact{.param = ours.param.to(at::kCPU).to(at::kDouble),
                                .first_moment = ours.first_moment.to(at::kCPU).to(at::kDouble),
                                .second_moment = ours.second_moment.to(at::kCPU).to(at::kDouble)};
  for (std::int64_t step = 1; step <= 3; ++step) {
    kernels::adamw(std::span(&ours, 1), tests::adamw_constants(step));
    torch_step(theirs, step);
    exact = kernels::adamw_reference(exact.param, ours.gradient.to(at::kCPU), exact.first_moment, exact.second_moment,
                                     tests::kLearningRate, tests::kBeta1, tests::kBeta2, tests::kEpsilon,
                                     tests::kWeightDecay, step);
  }
  const auto check = [](const at::Tensor& x, const at::Tensor& torch, const at::Tensor& wanted, double floor) {
    CHECK(tests::relative_error(x, wanted) <= 2 * tests::relative_error(torch, wanted) + floor);
  };
  // With bf16 moments, a step of η is off by up to η · 2^−8; chance decides for a single element.
  check(ours.param, theirs.param, exact.param, types.moment == at::kBFloat16 ? 1e-2 * 0x1p-8 : 1e-6);
  check(ours.first_moment, theirs.first_moment, exact.first_moment, tests::kFloor);
  check(ours.second_moment, theirs.second_moment, exact.second_moment, tests::kFloor);
}

TEST_CASE("AdamW gives the same bits for a model's tensors together as for each alone") {
  std::vector<kernels::AdamWParameter> together, alone;
  for (std::int64_t i = 0; i < 800; ++i) {  // more than a launch takes
    const tests::AdamWTypes& types = tests::kAdamWTypes[i % 3];
    const std::int64_t n = i % 50 == 0 ? 20'000 + i : i % 40;  // some empty, some with several blocks
    for (auto* list : {&together, &alone}) {
      list->push_back(tests::adamw_tensors(n, i % 2, types, tests::tested_device()));
      list->back().decays = i % 7 != 0;
    }
  }
  kernels::adamw(together, tests::adamw_constants(1));
  bool same = true;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    kernels::adamw(std::span(&alone[i], 1), tests::adamw_constants(1));
    same = same && tests::same_bits(together[i], alone[i]);
  }
  CHECK(same);
}

TEST_CASE("AdamW changes nothing after an overflow") {
  const at::Device device = tests::tested_device();
  const kernels::AdamWParameter tensors = tests::adamw_copy_tensors(10'000, 0, tests::kAdamWCopyTypes[2], device);
  const kernels::AdamWParameter before = tests::on_device(tensors, device);
  kernels::adamw(std::span(&tensors, 1), tests::adamw_constants(1), tests::adamw_control(0, true, 1, device));
  CHECK(tests::same_bits(tensors, before));
}
