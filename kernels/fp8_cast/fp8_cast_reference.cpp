// fp8 from its definition, in float64.
#include <cmath>
#include <limits>

#include "kernels/fp8_cast/fp8_cast_ops.h"

namespace headroom::kernels {

namespace {

// (−1)^s · 2^(e − bias) · (1 + f), without the 1 if e is 0.
double number_of(Fp8Format format, int code) {
  const int bits = format == Fp8Format::kE4m3 ? 3 : 2, bias = format == Fp8Format::kE4m3 ? 7 : 15;
  const int exponent = (code & 0x7f) >> bits, fraction = code & ((1 << bits) - 1);
  const double sign = code >= 128 ? -1 : 1;
  if (format == Fp8Format::kE4m3 && (code & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  if (format == Fp8Format::kE5m2 && exponent == 31)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  const double part = fraction / std::exp2(bits);
  return sign * (exponent == 0 ? std::exp2(1 - bias) * part : std::exp2(exponent - bias) * (1 + part));
}

int nearest(Fp8Format format, double x) {
  if (std::isnan(x)) return 0x7f;
  const int sign = std::signbit(x) ? 128 : 0;
  if (std::isinf(x)) return sign + (format == Fp8Format::kE4m3 ? 0x7f : 0x7c);
  int best = 0;
  for (int code = 0; code < 128; ++code) {
    const double number = number_of(format, code);
    if (!std::isfinite(number)) continue;
    const double before = std::abs(std::abs(x) - number_of(format, best)), now = std::abs(std::abs(x) - number);
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return sign + best;
}

}  // namespace

at::Tensor fp8_numbers(const at::Tensor& codes) {
  const Fp8Format format = codes.scalar_type() == at::kFloat8_e4m3fn ? Fp8Format::kE4m3 : Fp8Format::kE5m2;
  const at::Tensor bytes = codes.to(at::kCPU).contiguous().view(at::kByte);
  at::Tensor numbers = at::empty(codes.sizes(), at::kDouble);
  for (std::int64_t i = 0; i < codes.numel(); ++i)
    numbers.mutable_data_ptr<double>()[i] = number_of(format, bytes.const_data_ptr<std::uint8_t>()[i]);
  return numbers;
}

at::Tensor fp8_reference(const at::Tensor& x, double scale, Fp8Format format) {
  const at::Tensor values = x.to(at::kCPU).to(at::kDouble).contiguous();
  at::Tensor codes = at::empty(x.sizes(), at::kByte);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    codes.mutable_data_ptr<std::uint8_t>()[i] =
        static_cast<std::uint8_t>(nearest(format, scale * values.const_data_ptr<double>()[i]));
  return codes.view(type_of(format));
}

}  // namespace headroom::kernels
