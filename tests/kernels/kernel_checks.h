// What tests of kernels compare by, beside kernels::relative_error.
#pragma once

#include <ATen/ATen.h>

#include "kernels/kernel_case.h"

namespace headroom::test {

using kernels::relative_error;

// Both finite and alike to `tolerance`, or the same of NaN, ∞ and −∞, element by element.
inline bool same_kind(const at::Tensor& value, const at::Tensor& exact, double tolerance) {
  const at::Tensor a = value.detach().to(at::kCPU).to(at::kDouble), b = exact.detach().to(at::kCPU).to(at::kDouble);
  return at::allclose(a, b, tolerance, tolerance, /*equal_nan=*/true);
}

// The same bits, so that NaN equals NaN and 0 differs from −0.
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bits = [](const at::Tensor& x) { return x.detach().contiguous().view({-1}).view(at::kByte); };
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && bits(a).equal(bits(b));
}

// `numel` random values of standard deviation `scale`, `offset` elements into their storage: 1 keeps kernels from wide
// loads.
inline at::Tensor random_at(at::IntArrayRef shape, double scale, std::int64_t offset, at::ScalarType type,
                            at::Device device) {
  const std::int64_t numel = c10::multiply_integers(shape);
  return (at::randn({numel + offset}) * scale).to(type).to(device).narrow(0, offset, numel).view(shape);
}

inline constexpr double kFloor = 1e-6;  // relative; where both are exact but for the last bit

}  // namespace headroom::test
