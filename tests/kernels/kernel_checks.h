// Random inputs and comparisons for kernel tests, in addition to kernels::relative_error.
#pragma once

#include <ATen/ATen.h>

#include "kernels/kernel_case.h"

namespace headroom::tests {

using kernels::relative_error;

// True if elements agree within `tolerance`, or are equally NaN, ∞ or −∞.
inline bool same_kind(const at::Tensor& value, const at::Tensor& exact, double tolerance) {
  const at::Tensor a = value.detach().to(at::kCPU).to(at::kDouble), b = exact.detach().to(at::kCPU).to(at::kDouble);
  return at::allclose(a, b, tolerance, tolerance, /*equal_nan=*/true);
}

// Equal bits, so that NaN equals NaN and 0 differs from −0.
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bits = [](const at::Tensor& x) { return x.detach().contiguous().view({-1}).view(at::kByte); };
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && bits(a).equal(bits(b));
}

// Random values of standard deviation `scale` from element `offset` on; offset 1 prevents wide loads.
inline at::Tensor random_at(at::IntArrayRef shape, double scale, std::int64_t offset, at::ScalarType type,
                            at::Device device) {
  const std::int64_t numel = c10::multiply_integers(shape);
  return (at::randn({numel + offset}) * scale).to(type).to(device).narrow(0, offset, numel).view(shape);
}

// Every `skip`-th target is ignored, none for 0.
inline at::Tensor make_targets(std::int64_t rows, std::int64_t vocab, std::int64_t skip, at::Device device) {
  at::Tensor targets = at::randint(vocab, {rows}, at::kLong);
  for (std::int64_t row = skip - 1; skip > 0 && row < rows; row += skip) targets[row] = -100;
  return targets.to(device);
}

inline constexpr double kFloor = 1e-6;  // relative, for results that may differ in the last bit

}  // namespace headroom::tests
