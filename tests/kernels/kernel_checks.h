// How far a result is from float64, and whether it is no worse than PyTorch's own.
#pragma once

#include <ATen/ATen.h>

namespace headroom::test {

// Largest difference relative to the largest exact value; 0 for no elements. Compared on the CPU in float64.
inline double relative_error(const at::Tensor& value, const at::Tensor& exact) {
  if (exact.numel() == 0) return 0;
  const at::Tensor reference = exact.detach().to(at::kCPU).to(at::kDouble);
  const at::Tensor difference = (value.detach().to(at::kCPU).to(at::kDouble) - reference).abs();
  return (difference.max() / reference.abs().max().clamp_min(1e-30)).item<double>();
}

// Both finite and alike to `tolerance`, or the same of NaN, ∞ and −∞, element by element.
inline bool same_kind(const at::Tensor& value, const at::Tensor& exact, double tolerance) {
  const at::Tensor a = value.detach().to(at::kCPU).to(at::kDouble), b = exact.detach().to(at::kCPU).to(at::kDouble);
  return at::allclose(a, b, tolerance, tolerance, /*equal_nan=*/true);
}

// The same bits, so that NaN equals NaN and 0 differs from −0.
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType bits = a.element_size() == 4 ? at::kInt : at::kShort;
  return a.scalar_type() == b.scalar_type() &&
         a.detach().contiguous().view(bits).equal(b.detach().contiguous().view(bits));
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
