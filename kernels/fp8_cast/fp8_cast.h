// Eight-bit floating point on raw memory: codes, scales, and what the CPU and CUDA kernels have in common. No torch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/both.h"
#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

// e4m3: 4 bits of exponent and 3 of fraction, up to 448, no infinity, one NaN of each sign. e5m2: 5 and 2, up to 57,344,
// with infinity and NaN as IEEE's. Micikevicius et al. 2022, arXiv:2209.05433, table 1.
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

// The largest number.
HEADROOM_BOTH float fp8_most(Fp8Format format) { return format == Fp8Format::kE4m3 ? 448.0f : 57344.0f; }

// The nearest code, ties to even. What is finite and too large becomes the largest number; infinity and NaN become what
// the format has of them, so that no step goes on with a number in their place.
template <Fp8Format kFormat>
HEADROOM_BOTH std::uint8_t fp8_code(float value) {
  using Layout = Fp8Layout<kFormat>;
  constexpr int kShift = 23 - Layout::kFraction;
  constexpr std::uint32_t kLeastNormal = static_cast<std::uint32_t>(127 + 1 - Layout::kBias) << 23;
  // Added to a number below the least normal one it leaves the code in the low bits, rounded by the adder.
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

// The number of a code, exact.
HEADROOM_BOTH float fp8_value(Fp8Format format, std::uint8_t code) {
  const bool wide = format == Fp8Format::kE5m2;  // range
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

// Steps whose largest magnitudes decide a delayed scale.
inline constexpr int kFp8History = 16;

// The scaling of one tensor: codes are of scale · x. All zeros at first; fp32 throughout, so that a table of them is a
// tensor.
struct Fp8Scaling {
  float inverse;               // what products multiply by
  float scale;                 // 0: none yet
  float amax;                  // of what was measured since the last advance, or since the last scale
  float most;                  // of the format
  float history[kFp8History];  // largest magnitudes of the last steps, the latest first
};
// cuBLASLt takes a scale at a multiple of 16 bytes alone; elsewhere it answers with "not supported".
static_assert(sizeof(Fp8Scaling) % 16 == 0 && offsetof(Fp8Scaling, inverse) == 0);
inline constexpr std::int64_t kFp8ScalingFloats = sizeof(Fp8Scaling) / sizeof(float);
inline constexpr std::int64_t kFp8Scale = offsetof(Fp8Scaling, scale) / sizeof(float);  // its place among them
inline constexpr std::int64_t kFp8Inverse = offsetof(Fp8Scaling, inverse) / sizeof(float);
inline constexpr std::int64_t kFp8Amax = offsetof(Fp8Scaling, amax) / sizeof(float);

HEADROOM_BOTH bool is_finite(float value) { return (bits_of(value) & 0x7f800000u) != 0x7f800000u; }

// The scale that takes `amax` to the largest number. An amax of infinity or NaN, or one so small that the scale or its
// inverse would leave fp32, keeps the scale that was, at first 1, and is counted. 0 keeps it, too.
HEADROOM_BOTH void fp8_choose(Fp8Scaling& s, float amax, std::int32_t* not_scaled) {
  constexpr float kMostScale = 0x1p126f;  // its inverse is the smallest fp32 with all its digits
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

// At the end of a step: the largest magnitude of the last kFp8History steps decides, without a margin.
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

// A matrix to codes, as it is, transposed, or both; `transposed` and `codes` may be null. Sides are multiples of 16.
struct Fp8CastArgs {
  const void* x;  // [rows, columns]
  Storage storage;
  std::int64_t rows, columns;
  std::uint8_t* codes;       // [rows, columns]
  std::uint8_t* transposed;  // [columns, rows], or these columns of a wider matrix
  std::int64_t transposed_stride;  // from one of its rows to the next; a multiple of 16
  Fp8Format format;
  Fp8Scaling* scaling;  // on the device
  bool measures;        // the largest magnitude goes into scaling->amax
};

// Each returns the first failed launch's cudaError_t (0: queued). `keeps`: amax stays, for the history.
int fp8_measure_cuda(const void* x, Storage storage, std::int64_t n, Fp8Format format, Fp8Scaling* scaling, bool keeps,
                     std::int32_t* not_scaled, CUstream_st* stream);
int fp8_cast_cuda(const Fp8CastArgs& args, CUstream_st* stream);
int fp8_advance_cuda(Fp8Scaling* scalings, std::int64_t count, std::int32_t* not_scaled, CUstream_st* stream);

// The largest magnitude of elements [begin, end), NaN above infinity.
float fp8_amax_cpu(const void* x, Storage storage, std::int64_t begin, std::int64_t end);
// Rows [begin, end).
void fp8_cast_cpu(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end);
// Of two magnitudes, with NaN the largest.
HEADROOM_BOTH float fp8_larger(float a, float b) { return bits_of(a) > bits_of(b) ? a : b; }

}  // namespace headroom::kernels
