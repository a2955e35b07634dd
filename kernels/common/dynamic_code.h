// Dynamic tree quantization: eight-bit codes of numbers in [−1, 1] for 8-bit optimizers (Dettmers et al. 2022,
// arXiv:2110.02861, section 1.3 and appendix F). The CPU and CUDA get the same bits.
//
// A signed code is  s 0…0 1 f…f  : a sign, e zeros (the decimal exponent), an indicator bit and F = 6 − e fraction
// bits. [0.1, 1] is cut into 2^F equal parts, and the fraction k stands for the middle of part k,
//   value = ± 10^−e · (0.1 + 0.9 (k + ½) / 2^F),   e = 0 … 6, F = 6 − e.
// The decades have 64, 32, …, 1 steps: 2 · (64 + 32 + … + 1) = 254 codes. The two codes without an indicator bit are
// 0000 0000 for 0 and, instead of −0, 1000 0000 for 1 (absmax / absmax). −1 has no code; the nearest value is −0.993.
//
// The unsigned map, for second moments, uses the sign bit for the fraction: F = 7 − e, 128 + 64 + … + 2 = 254 codes,
// plus 0 (0000 0000) and 1 (0000 0001, which would be e = 7).
//
// Example: 0.05 signed. e = 1, since 0.05 · 10 = 0.5 is in [0.1, 1]; F = 5; k = ⌊(0.5 − 0.1) / 0.9 · 32⌋ = 14; code
// 0 01 01110 = 0x2e; value 0.1 · (0.1 + 0.9 · 14.5 / 32) = 0.05078.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/common/both.h"

namespace headroom::kernels {

inline constexpr int kDecades = 7;

constexpr int fraction_bits(bool is_signed, int e) { return (is_signed ? 6 : 7) - e; }

constexpr double ten_to_minus(int e) {
  double power = 1;
  for (int i = 0; i < e; ++i) power *= 10;
  return 1 / power;
}

constexpr double dynamic_value(bool is_signed, int e, double k) {
  return ten_to_minus(e) * (0.1 + 0.9 * (k + 0.5) / (1 << fraction_bits(is_signed, e)));
}

// Midpoint between the smallest value of decade e (e = −1: the value 1) and the next smaller value. Magnitudes below
// the midpoint belong to smaller decades.
constexpr double dynamic_threshold(bool is_signed, int e) {
  const double above = e < 0 ? 1 : dynamic_value(is_signed, e, 0);
  const int below = e + 1;
  if (below == kDecades) return above / 2;  // the next value is 0
  return (above + dynamic_value(is_signed, below, (1 << fraction_bits(is_signed, below)) - 1)) / 2;
}

// A magnitude a has the code min(a · scale + base, most), rounded. Because base is half a code below the decade's
// first code, rounding acts as ⌊ ⌋. Magnitudes below all decades have no sign.
struct alignas(16) DynamicDecade {
  float scale, base, most;
  std::uint32_t sign;  // set for negative numbers
};

// A power-of-two octave: the decade at its upper end, and the threshold where this decade begins. Thresholds are a
// factor of ten apart, so an octave has at most one.
struct alignas(8) DynamicOctave {
  float threshold;
  std::int32_t decade;  // magnitudes below the threshold have the next decade
};
inline constexpr int kLeastExponent = 127 - 23;  // magnitudes below 2^−23 are below all decades
inline constexpr int kOctaves = 127 - kLeastExponent + 2;

struct DynamicMap {
  float value[256];  // by code
  DynamicDecade decade[kDecades + 1];
  DynamicOctave octave[kOctaves];
};

constexpr float dynamic_threshold_as_float(bool is_signed, int e) {
  return static_cast<float>(dynamic_threshold(is_signed, e));
}

// The number of decades above a magnitude; 7 if it is below all.
constexpr int decade_of(bool is_signed, float magnitude) {
  int e = 0;
  while (e < kDecades && magnitude < dynamic_threshold_as_float(is_signed, e)) ++e;
  return e;
}

constexpr DynamicMap dynamic_map(bool is_signed) {
  DynamicMap map{};
  for (int e = 0; e < kDecades; ++e) {
    const int parts = 1 << fraction_bits(is_signed, e);
    for (int k = 0; k < parts; ++k) {
      const auto value = static_cast<float>(dynamic_value(is_signed, e, k));
      map.value[parts + k] = value;
      if (is_signed) map.value[128 + parts + k] = -value;
    }
    // Codes: `parts` (the indicator bit) + k, where k = ⌊(a 10^e − 0.1) / 0.9 · parts⌋.
    map.decade[e] = {.scale = static_cast<float>(parts / 0.9 / ten_to_minus(e)),
                     .base = static_cast<float>(parts - parts / 9.0 - 0.5),
                     .most = static_cast<float>(2 * parts - 1),
                     .sign = is_signed ? 0x80u : 0u};
  }
  const float none = is_signed ? 0 : 2;  // see dynamic_code()
  map.decade[kDecades] = {.scale = 0, .base = none, .most = none, .sign = 0};
  map.value[is_signed ? 128 : 1] = 1;
  float begin = 0, end = 0x1p-23f;
  for (DynamicOctave& octave : map.octave) {
    const int lower = decade_of(is_signed, begin), upper = decade_of(is_signed, end);
    const bool divided = lower != upper;
    octave = {.threshold = divided ? dynamic_threshold_as_float(is_signed, upper) : 0.0f, .decade = upper};
    begin = end;
    end *= 2;
  }
  return map;
}

// min(|x|, 1); 1 for NaN, which then has a code.
HEADROOM_BOTH float coded_magnitude(float x) {
  const float given = float_of(bits_of(x) & 0x7fffffffu);
  return given < 1.0f ? given : 1.0f;
}

template <bool kSigned, int kE>
struct DynamicThreshold {
  static constexpr float kValue = dynamic_threshold_as_float(kSigned, kE);
};

// Uses only comparisons, so compilers vectorize it.
template <bool kSigned, int... kE>
HEADROOM_BOTH int dynamic_decade(float magnitude, std::integer_sequence<int, kE...>) {
  return (0 + ... + static_cast<int>(magnitude < DynamicThreshold<kSigned, kE>::kValue));
}

// Needs a table, but fewer instructions.
HEADROOM_BOTH int dynamic_decade(float magnitude, const DynamicOctave* octaves) {
  const int exponent = static_cast<int>(bits_of(magnitude) >> 23) - (kLeastExponent - 1);
  const DynamicOctave octave = octaves[exponent > 0 ? exponent : 0];
  return octave.decade + static_cast<int>(magnitude < octave.threshold);
}

template <bool kSigned>
HEADROOM_BOTH std::uint8_t dynamic_code(float x, float magnitude, const DynamicDecade& decade) {
  constexpr float kRounds = 0x1p23f;  // leaves the nearest integer in the low bits
  const float place = magnitude * decade.scale + decade.base;
  std::uint32_t code = bits_of((place < decade.most ? place : decade.most) + kRounds) & 0xffu;
  if (kSigned) {
    code |= bits_of(x) >> 24 & decade.sign;
    if (x >= DynamicThreshold<kSigned, -1>::kValue) code = 128;
  } else {
    if (magnitude == 0.0f) code = 0;
    if (magnitude >= DynamicThreshold<kSigned, -1>::kValue) code = 1;
  }
  return static_cast<std::uint8_t>(code);
}

// Code of the value nearest to x, |x| ≤ 1. The unsigned map codes |x|, and gives the code of 0 only to 0, since a
// second moment decoded as 0 would leave only ε in the denominator. NaN gets a code other than 0.
template <bool kSigned>
HEADROOM_BOTH std::uint8_t dynamic_code(float x, const DynamicDecade* decades) {
  const float magnitude = coded_magnitude(x);
  const int e = dynamic_decade<kSigned>(magnitude, std::make_integer_sequence<int, kDecades>{});
  return dynamic_code<kSigned>(x, magnitude, decades[e]);
}

// Factor for a block's numbers: 1 / absmax, or 0 if this quotient overflows fp32 or is NaN. With factor 0, finite
// numbers get code 0, which decodes to 0, or to NaN if the absmax is not finite.
HEADROOM_BOTH float inverse_absmax(float absmax) { return absmax >= 0x1p-126f ? 1.0f / absmax : 0.0f; }

}  // namespace headroom::kernels
