// Eight-bit floating point: codes and scales.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/both.h"
#include "kernels/common/storage.h"

namespace headroom::kernels {

// e4m3: 4 bits of exponent and 3 of fraction, up to 448, no infinity, one NaN per sign. e5m2: 5 and 2 bits, up to
// 57,344, with IEEE's infinity and NaN. Micikevicius et al. 2022, arXiv:2209.05433, table 1.
enum class Fp8Format : std::uint8_t { kE4m3, kE5m2 };

template <Fp8Format kFormat>
struct Fp8Layout;
template <>
struct Fp8Layout<Fp8Format::kE4m3> {
  static constexpr int kFraction = 3, kBias = 7;
  static constexpr std::uint32_t kMost = 0x7e, kInfinity = 0x7f, kNan = 0x7f;
};
template <>
struct Fp8Layout<Fp8Format::kE5m2> {
  static constexpr int kFraction = 2, kBias = 15;
  static constexpr std::uint32_t kMost = 0x7b, kInfinity = 0x7c, kNan = 0x7f;
};

HEADROOM_BOTH float fp8_most(Fp8Format format) { return format == Fp8Format::kE4m3 ? 448.0f : 57344.0f; }

// The nearest code, ties to even. Finite numbers saturate; infinity and NaN never become finite.
template <Fp8Format kFormat>
HEADROOM_BOTH std::uint8_t fp8_code(float value) {
  using Layout = Fp8Layout<kFormat>;
  constexpr int kShift = 23 - Layout::kFraction;
  constexpr std::uint32_t kLeastNormal = static_cast<std::uint32_t>(127 + 1 - Layout::kBias) << 23;
  // Added to a subnormal number, this leaves the rounded code in the low bits of the sum.
  constexpr std::uint32_t kRounds = static_cast<std::uint32_t>(127 + 24 - Layout::kBias - Layout::kFraction) << 23;
  const std::uint32_t sign = bits_of(value) >> 24 & 0x80u, bits = bits_of(value) & 0x7fffffffu;
  const std::uint32_t even = bits >> kShift & 1u;
  const std::uint32_t normal = ((bits + (1u << (kShift - 1)) - 1u + even) >> kShift) -
                               (static_cast<std::uint32_t>(127 - Layout::kBias) << Layout::kFraction);
  const std::uint32_t subnormal = bits_of(float_of(bits) + float_of(kRounds)) - kRounds;
  std::uint32_t code = bits < kLeastNormal ? subnormal : normal;
  if (bits >= kLeastNormal && code > Layout::kMost) code = Layout::kMost;
  if (bits == 0x7f800000u) code = Layout::kInfinity;
  if (bits > 0x7f800000u) code = Layout::kNan;
  return static_cast<std::uint8_t>(code | sign);
}

HEADROOM_BOTH float fp8_value(Fp8Format format, std::uint8_t code) {
  const bool wide = format == Fp8Format::kE5m2;
  const int fraction_bits = wide ? 2 : 3, bias = wide ? 15 : 7;
  const std::uint32_t sign = std::uint32_t{code & 0x80u} << 24, magnitude = code & 0x7fu;
  if (wide ? magnitude == 0x7cu : false) return float_of(0x7f800000u | sign);
  if (wide ? magnitude > 0x7cu : magnitude == 0x7fu) return float_of(0x7fc00000u | sign);
  const auto exponent = static_cast<int>(magnitude >> fraction_bits);
  const auto fraction = static_cast<float>(magnitude & ((1u << fraction_bits) - 1u));
  const float one = static_cast<float>(1u << fraction_bits);
  const int power = (exponent == 0 ? 1 : exponent) - bias - fraction_bits;
  const float scale = float_of(static_cast<std::uint32_t>(127 + power) << 23);
  const float value = (exponent == 0 ? fraction : one + fraction) * scale;
  return float_of(bits_of(value) | sign);
}

// Steps whose amax decides a delayed scale.
inline constexpr int kFp8History = 16;

// Scaling of one tensor, whose codes encode scale · x. Zeros at first; all fp32, so a table of scalings is a tensor.
struct Fp8Scaling {
  float inverse;               // 1 / scale, by which GEMMs multiply the codes
  float scale;                 // 0: not chosen yet
  float amax;                  // largest |x| since the last advance or measurement
  float most;                  // largest number of the format
  float history[kFp8History];  // latest first
};
// cuBLASLt supports only scales aligned to 16 bytes.
static_assert(sizeof(Fp8Scaling) % 16 == 0 && offsetof(Fp8Scaling, inverse) == 0);
inline constexpr std::int64_t kFp8ScalingFloats = sizeof(Fp8Scaling) / sizeof(float);
inline constexpr std::int64_t kFp8Scale = offsetof(Fp8Scaling, scale) / sizeof(float);  // index in a scaling
inline constexpr std::int64_t kFp8Inverse = offsetof(Fp8Scaling, inverse) / sizeof(float);
inline constexpr std::int64_t kFp8Amax = offsetof(Fp8Scaling, amax) / sizeof(float);

HEADROOM_BOTH bool is_finite(float value) { return (bits_of(value) & 0x7f800000u) != 0x7f800000u; }

// Chooses the scale that maps `amax` to the format's largest number. If amax is infinite, NaN, or so small that the
// scale or its inverse would leave fp32's range, the previous scale (at first 1) stays and the failure is counted. An
// amax of 0 also keeps the previous scale.
HEADROOM_BOTH void fp8_choose(Fp8Scaling& s, float amax, std::int32_t* not_scaled) {
  constexpr float kMostScale = 0x1p126f;  // its inverse is the smallest normal fp32
  if (s.scale == 0.0f) s.scale = 1.0f;
  if (amax != 0.0f) {
    const float scale = s.most / amax;
    if (is_finite(amax) && scale <= kMostScale) {
      s.scale = scale;
    } else {
      ++*not_scaled;
    }
  }
  s.inverse = 1.0f / s.scale;
}

// Ends a step: the largest amax of the last kFp8History steps decides the scale, without a margin.
HEADROOM_BOTH void fp8_advance(Fp8Scaling& s, std::int32_t* not_scaled) {
  if (s.most == 0.0f) return;  // never used
  const bool finite = is_finite(s.amax);
  if (!finite) ++*not_scaled;
  for (int i = kFp8History - 1; i > 0; --i) s.history[i] = s.history[i - 1];
  s.history[0] = finite ? s.amax : s.history[1];
  s.amax = 0.0f;
  float most = 0.0f;
  for (int i = 0; i < kFp8History; ++i) most = s.history[i] > most ? s.history[i] : most;
  fp8_choose(s, most, not_scaled);
}

// `transposed` and `codes` are optional. Sides are multiples of 16.
struct Fp8CastArgs {
  const void* x;  // [rows, columns]
  Storage storage;
  std::int64_t rows, columns;
  std::uint8_t* codes;             // [rows, columns]
  std::uint8_t* transposed;        // [columns, rows], or `rows` columns of a wider matrix
  std::int64_t transposed_stride;  // row stride; a multiple of 16
  Fp8Format format;
  Fp8Scaling* scaling;  // on the device
  bool measures;        // raises scaling->amax
};

// `keeps`: amax stays, to enter the history.
int fp8_measure_cuda(const void* x, Storage storage, std::int64_t n, Fp8Format format, Fp8Scaling* scaling, bool keeps,
                     std::int32_t* not_scaled, CUstream_st* stream);
int fp8_cast_cuda(const Fp8CastArgs& args, CUstream_st* stream);
int fp8_advance_cuda(Fp8Scaling* scalings, std::int64_t count, std::int32_t* not_scaled, CUstream_st* stream);

// Largest magnitude of elements [begin, end).
float fp8_amax_cpu(const void* x, Storage storage, std::int64_t begin, std::int64_t end);
void fp8_cast_cpu(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end);
// The larger of two magnitudes; NaN is the largest.
HEADROOM_BOTH float fp8_larger(float a, float b) { return bits_of(a) > bits_of(b) ? a : b; }

}  // namespace headroom::kernels
