// The search for inf and NaN, the loss scale and the gradients' norm on any device.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/gradient_check/gradient_check_ops.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

const at::Device kCheckedOn = tests::tested_device();

// Tensors of many sizes, some misaligned, with the largest and smallest finite numbers.
std::vector<at::Tensor> finite_gradients() {
  constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf};
  std::vector<at::Tensor> gradients;
  const auto add = [&](std::int64_t n, std::int64_t offset, at::ScalarType type) {
    const double largest = type == at::kHalf ? 65504 : type == at::kBFloat16 ? 3.3895313892515355e38 : 3.4028234e38;
    at::Tensor g = at::zeros({n + offset}, at::TensorOptions(type).device(kCheckedOn));
    if (n + offset > 3) {
      g[0] = largest;
      g[1] = -largest;
      g[2] = type == at::kHalf ? 5.9604645e-8 : 1e-40;
    }
    gradients.push_back(g.narrow(0, offset, n));
  };
  for (const at::ScalarType type : kTypes) {
    for (const std::int64_t n : {0, 1, 3, 8, 17, 1000, 70'001}) {
      for (const std::int64_t offset : {0, 1}) add(n, offset, type);
    }
  }
  gradients.emplace_back();
  return gradients;
}

bool overflow_found(const std::vector<at::Tensor>& gradients, bool before = false) {
  const at::Tensor overflow = at::full({1}, before ? 1 : 0, at::TensorOptions(at::kInt).device(kCheckedOn));
  kernels::check_finite_(gradients, overflow);
  return overflow.item<std::int32_t>() != 0;
}

struct LossScaleState {
  at::Tensor scale, inverse_scale, good_steps, overflow, skipped;
};

LossScaleState loss_scale_state(double scale, at::Device device = kCheckedOn) {
  const at::TensorOptions options = at::TensorOptions().device(device);
  return {.scale = at::full({}, scale, options.dtype(at::kFloat)),
          .inverse_scale = at::full({}, 1 / scale, options.dtype(at::kFloat)),
          .good_steps = at::zeros({1}, options.dtype(at::kInt)),
          .overflow = at::zeros({1}, options.dtype(at::kInt)),
          .skipped = at::zeros({1}, options.dtype(at::kLong))};
}

// The scales after steps that overflow (1) or not (0).
std::vector<float> scales_after(const LossScaleState& state, const std::vector<int>& overflows,
                                std::int64_t growth_interval) {
  std::vector<float> scales;
  for (const int overflow : overflows) {
    state.overflow.fill_(overflow);
    kernels::update_loss_scale_(state.scale, state.inverse_scale, state.good_steps, state.overflow, state.skipped,
                                growth_interval);
    scales.push_back(state.scale.item<float>());
  }
  return scales;
}

}  // namespace

TEST_CASE("the largest and the smallest numbers are finite") { CHECK_FALSE(overflow_found(finite_gradients())); }

TEST_CASE("one inf or NaN anywhere is found") {
  const std::vector<at::Tensor> gradients = finite_gradients();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const at::Tensor& g : gradients) {
    if (!g.defined() || g.numel() == 0) continue;
    for (const std::int64_t place : {std::int64_t{0}, g.numel() - 1, g.numel() / 2, g.numel() / 3}) {
      const at::Tensor element = g.narrow(0, place, 1), before = element.clone();
      for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
        element.fill_(bad);
        CHECK(overflow_found(gradients));
      }
      element.copy_(before);
      CHECK_FALSE(overflow_found(gradients));
    }
  }
}

TEST_CASE("more tensors than a launch takes are checked completely") {
  std::vector<at::Tensor> many(3000, at::ones({5}, at::TensorOptions().device(kCheckedOn)));
  CHECK_FALSE(overflow_found(many));
  many[2999] = many[2999] / 0;
  CHECK(overflow_found(many));
}

TEST_CASE("a flag that is set stays set") { CHECK(overflow_found(finite_gradients(), true)); }

TEST_CASE("the loss scale grows after enough good steps and shrinks at an overflow") {
  const LossScaleState state = loss_scale_state(8);
  CHECK(scales_after(state, {0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, 3) ==
        std::vector<float>{8, 8, 16, 16, 8, 8, 8, 4, 4, 4, 8});
  CHECK(state.inverse_scale.item<float>() == 0.125f);
  CHECK(state.skipped.item<std::int64_t>() == 2);
  CHECK(state.good_steps.item<std::int32_t>() == 0);
  CHECK(state.overflow.item<std::int32_t>() == 0);
}

TEST_CASE("an overflow is remembered and the flag cleared") {
  const LossScaleState state = loss_scale_state(1024);
  scales_after(state, {0, 1}, 100);
  CHECK(state.overflow.item<std::int32_t>() == 0);
  CHECK(state.skipped.item<std::int64_t>() == 1);
  CHECK(state.inverse_scale.item<float>() == 1.0f / 512);
}

TEST_CASE("the loss scale stays between one and what fp32 can invert") {
  CHECK(scales_after(loss_scale_state(2), {1, 1, 1}, 3) == std::vector<float>{1, 1, 1});
  const LossScaleState large = loss_scale_state(0x1p125);
  CHECK(scales_after(large, {0, 0, 0}, 1) == std::vector<float>{0x1p126f, 0x1p126f, 0x1p126f});
  CHECK(large.inverse_scale.item<float>() == 0x1p-126f);
}

TEST_CASE("gradients are clipped by their global norm, whatever their sizes and formats") {
  at::manual_seed(4);
  std::vector<at::Tensor> gradients{at::Tensor()};
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf})
    for (const std::int64_t n : {0, 1, 7, 16'384, 16'385, 100'003})
      gradients.push_back((at::randn({n + 1}) * 0.5).to(kCheckedOn, type).narrow(0, n % 2, n));  // some misaligned
  for (int i = 0; i < 1100; ++i) gradients.push_back(at::full({3}, 0.25, at::TensorOptions().device(kCheckedOn)));
  double squares = 0;
  std::int64_t blocks = 0;
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    squares += gradient.to(at::kDouble).square().sum().item<double>();
    blocks += kernels::norm_blocks(gradient.numel());
  }
  const double norm = std::sqrt(squares);
  const at::Tensor sums = at::full({blocks}, std::nan(""), at::TensorOptions().device(kCheckedOn).dtype(at::kDouble));
  const at::Tensor factor = at::empty({}, sums.options().dtype(at::kFloat));
  const auto clipped = [&](double most, const at::Tensor& inverse_scale = {}) {
    kernels::clip_factor_(gradients, most, inverse_scale, sums, factor);
    return factor.item<double>();
  };
  CHECK(clipped(norm / 4) == Approx(0.25 / (1 + 1e-6 / norm)).epsilon(1e-6));
  CHECK(clipped(norm * 1.01) == 1);
  const at::Tensor eighth = at::full({}, 0.125, factor.options());
  CHECK(clipped(norm / 16, eighth) == Approx(0.5 * 0.125).epsilon(1e-6));
  CHECK(clipped(norm, eighth) == 0.125);
  const double once = clipped(1);
  CHECK(clipped(1) == once);
  gradients.back()[2] = std::nan("");
  CHECK(std::isnan(clipped(1)));
  gradients.back()[2] = std::numeric_limits<double>::infinity();
  CHECK(clipped(1) == 0);
  CHECK_THROWS_AS(kernels::clip_factor_(gradients, 1, {}, sums.narrow(0, 1, blocks - 1), factor), c10::Error);
  CHECK_THROWS_AS(kernels::clip_factor_(gradients, 1, {}, sums.to(at::kFloat), factor), c10::Error);
  CHECK_THROWS_AS(kernels::clip_factor_(gradients, 0, {}, sums, factor), c10::Error);
}

TEST_CASE("the gradient check refuses tensors that do not fit each other") {
  const at::Tensor g = at::zeros({4, 4}, at::TensorOptions().device(kCheckedOn));
  const at::Tensor overflow = at::zeros({1}, g.options().dtype(at::kInt));
  const auto check = [&](const at::Tensor& gradient, const at::Tensor& flag) {
    kernels::check_finite_({&gradient, 1}, flag);
  };
  CHECK_NOTHROW(check(g, overflow));
  CHECK_THROWS(check(g, g));
  CHECK_THROWS(check(g, at::Tensor()));
  CHECK_THROWS(check(g.t(), overflow));
  CHECK_THROWS(check(g.to(at::kDouble), overflow));
  CHECK_THROWS(check(at::zeros({4}, at::TensorOptions().device(at::kMeta)), overflow));
  const LossScaleState s = loss_scale_state(8);
  const auto update = [&](const at::Tensor& scale, std::int64_t interval, double growth, double backoff) {
    kernels::update_loss_scale_(scale, s.inverse_scale, s.good_steps, s.overflow, s.skipped, interval, growth, backoff);
  };
  CHECK_THROWS(update(s.skipped, 10, 2, 0.5));
  CHECK_THROWS(update(s.scale, 0, 2, 0.5));
  CHECK_THROWS(update(s.scale, 10, 0.5, 0.5));
  CHECK_THROWS(update(s.scale, 10, 2, 0));
}

TEST_CASE("the gradient check reads nothing on meta") {
  const auto meta = at::TensorOptions().device(at::kMeta);
  const std::vector<at::Tensor> gradients{at::zeros({4}, meta)};
  kernels::check_finite_(gradients, at::zeros({1}, meta.dtype(at::kInt)));
  const LossScaleState s = loss_scale_state(8, at::kMeta);
  kernels::update_loss_scale_(s.scale, s.inverse_scale, s.good_steps, s.overflow, s.skipped, 10);
}
