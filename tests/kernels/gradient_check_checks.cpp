#include "tests/kernels/gradient_check_checks.h"

#include <limits>

#include "kernels/gradient_check/gradient_check_ops.h"

namespace headroom::tests {

std::vector<at::Tensor> finite_gradients(at::Device device) {
  constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf};
  std::vector<at::Tensor> gradients;
  const auto add = [&](std::int64_t n, std::int64_t offset, at::ScalarType type) {
    const double largest = type == at::kHalf ? 65504 : type == at::kBFloat16 ? 3.3895313892515355e38 : 3.4028234e38;
    at::Tensor g = at::zeros({n + offset}, at::TensorOptions(type).device(device));
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

bool overflow_found(const std::vector<at::Tensor>& gradients, bool before) {
  at::Device device = at::kCPU;
  for (const at::Tensor& g : gradients) {
    if (g.defined()) device = g.device();
  }
  const at::Tensor overflow = at::full({1}, before ? 1 : 0, at::TensorOptions(at::kInt).device(device));
  kernels::check_finite_(gradients, overflow);
  return overflow.item<std::int32_t>() != 0;
}

bool finds_each(const std::vector<at::Tensor>& gradients) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const at::Tensor& g : gradients) {
    if (!g.defined() || g.numel() == 0) continue;
    for (const std::int64_t place : {std::int64_t{0}, g.numel() - 1, g.numel() / 2, g.numel() / 3}) {
      const at::Tensor element = g.narrow(0, place, 1), before = element.clone();
      for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
        element.fill_(bad);
        if (!overflow_found(gradients)) return false;
      }
      element.copy_(before);
      if (overflow_found(gradients)) return false;
    }
  }
  return true;
}

LossScaleState loss_scale_state(double scale, at::Device device) {
  const at::TensorOptions options = at::TensorOptions().device(device);
  return {.scale = at::full({}, scale, options.dtype(at::kFloat)),
          .inverse_scale = at::full({}, 1 / scale, options.dtype(at::kFloat)),
          .good_steps = at::zeros({1}, options.dtype(at::kInt)),
          .overflow = at::zeros({1}, options.dtype(at::kInt)),
          .skipped = at::zeros({1}, options.dtype(at::kLong))};
}

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

}  // namespace headroom::tests
