// The AdamW kernel on the CPU and on meta.
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/kernel.h"
#include "tests/kernels/adamw_test_support.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

constexpr double kFloor = 1e-6;  // relative; where both are exact but for the last bit

kernels::AdamWStep first_step() { return kernels::adamw_step_constants(1e-2, 0.9, 0.95, 1e-8, 0.1, 1); }

void step_one(const kernels::AdamWParameter& tensors, const kernels::AdamWStep& step) {
  kernels::adamw(std::span(&tensors, 1), step);
}

}  // namespace

TEST_CASE("AdamW on the CPU errs no more than twice PyTorch's own operators") {
  const test::AdamWTypes types = GENERATE(from_range(std::begin(test::kAdamWTypes), std::end(test::kAdamWTypes)));
  const std::int64_t n = GENERATE(1, 7, 1000, 100'003);  // the last is shared among threads
  CAPTURE(n, types.param, types.gradient, types.moment);
  const test::AdamWErrors errors = test::adamw_errors(n, 3, types, at::kCPU);
  CHECK(errors.kernel_param <= 2 * errors.torch_param + test::adamw_floor(types));
  CHECK(errors.kernel_first <= 2 * errors.torch_first + kFloor);
  CHECK(errors.kernel_second <= 2 * errors.torch_second + kFloor);
}

TEST_CASE("AdamW takes a whole model's tensors at once as it takes each by itself") {
  CHECK(test::adamw_together_as_alone(at::kCPU));
}

TEST_CASE("AdamW's first step by hand") {
  // p = 1, g = 0.5, no moments: m̂ = 0.5, v̂ = 0.25, so the step is η·0.5/0.5 = 0.01 and the decay η·λ·p = 0.001.
  const at::Tensor p = at::full({1}, 1.0f), g = at::full({1}, 0.5f), m = at::zeros({1}), v = at::zeros({1});
  step_one({p, g, m, v}, first_step());
  CHECK(p.item<float>() == Approx(0.989));
  CHECK(m.item<float>() == Approx(0.05));
  CHECK(v.item<float>() == Approx(0.0125));
}

TEST_CASE("a weight that does not decay moves by the step alone") {
  const at::Tensor p = at::full({1}, 1.0f), g = at::full({1}, 0.5f), m = at::zeros({1}), v = at::zeros({1});
  step_one({p, g, m, v, /*decays=*/false}, first_step());
  CHECK(p.item<float>() == Approx(0.99));
}

TEST_CASE("bf16 results are rounded to nearest, ties to even, and NaN stays NaN") {
  const auto stored = [](float value) {
    const at::Tensor p = at::full({1}, value, at::kBFloat16), zero = at::zeros({1}, at::kBFloat16);
    const at::Tensor g = at::full({1}, 1.0f, at::kBFloat16);
    const at::Tensor m = zero.clone(), v = zero.clone();
    kernels::AdamWStep step = first_step();
    step.decay = 1;
    step.step_size = 0x1p-8f;  // m = 0.1 and v = 0.05: with this scale a step of 2^-8
    step.second_moment_scale = 0.1f / std::sqrt(0.05f);
    step.epsilon = 0;
    step_one({p, g, m, v}, step);
    return p.to(at::kFloat).item<float>();
  };
  // Below 2 neighbours are 2^-7 apart, so a step of 2^-8 ends half way; below 1 it is one place.
  CHECK(stored(2.0f) == 2.0f);
  CHECK(stored(2.0f - 0x1p-7f) == 2.0f - 0x1p-6f);
  CHECK(stored(1.0f) == 1.0f - 0x1p-8f);
  CHECK(std::isnan(stored(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("tensors that do not fit each other are refused") {
  const at::Tensor a = at::zeros({4}), other_shape = at::zeros({5}), bf16 = at::zeros({4}, at::kBFloat16);
  CHECK_THROWS(step_one({a, other_shape, a, a}, first_step()));
  CHECK_THROWS(step_one({a, a, bf16, a}, first_step()));
  CHECK_THROWS(step_one({a, a, a, at::zeros({8}).slice(0, 0, 8, 2)}, first_step()));
  CHECK_THROWS(step_one({a, bf16, a, a}, first_step()));
  CHECK_THROWS(step_one({a, at::Tensor(), a, a}, first_step()));
  const at::Tensor d = at::zeros({4}, at::kDouble), half = at::zeros({4}, at::kHalf);
  CHECK_THROWS(step_one({d, d, d, d}, first_step()));
  CHECK_THROWS(step_one({half, half, half, half}, first_step()));  // fp16 moments underflow
  CHECK_NOTHROW(step_one({half, half, a, a}, first_step()));
}

TEST_CASE("on meta AdamW checks and computes nothing") {
  const at::Tensor a = at::zeros({4}, at::TensorOptions().device(at::kMeta));
  step_one({a, a, a, a}, first_step());
  CHECK_THROWS(step_one({a, at::zeros({5}, a.options()), a, a}, first_step()));
}

TEST_CASE("the catalogue's AdamW moves seven times the tensor") {
  const kernels::KernelInfo* info = kernels::find_kernel("adamw");
  REQUIRE(info != nullptr);
  CHECK(info->bytes({.width = 1000}, kernels::Pass::kForward, 2) == 14'000);
  CHECK(kernels::find_kernel("adamx") == nullptr);
}
