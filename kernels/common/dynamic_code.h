// Eight bits for a number in [−1, 1]: dynamic tree quantization (Dettmers et al. 2022, arXiv:2110.02861, section 1.3
// and appendix F), the map of 8-bit optimizers. Shared by CPU and CUDA, which get the same bits.
//
// A signed code is  s 0…0 1 f…f  : a sign, e zeros, an indicator bit, and the F = 6 − e bits that are left. The zeros
// are a decimal exponent, the bits behind the indicator a linear fraction: [0.1, 1] is cut into 2^F equal parts, and
// the code k means the middle of its part,
//   value = ± 10^−e · (0.1 + 0.9 (k + ½) / 2^F),   e = 0 … 6, F = 6 − e.
// So the largest numbers have 64 steps to a decade and the smallest one: relative precision where it counts, and seven
// decades altogether. That makes 2 · (64 + 32 + … + 1) = 254 codes; the two that have no indicator bit are 0 (0000
// 0000) and, instead of −0, the 1 that an absmax divided by itself gives (1000 0000). −1 has no code; −0.993 is next to
// it.
//
// Second moments are never negative, so the unsigned map gives the sign's bit to the fraction: F = 7 − e, e = 0 … 6,
// again 128 + 64 + … + 2 = 254 codes, with 0 (0000 0000) and 1 (0000 0001, which would be e = 7).
//
// Worked example: 0.05 signed. e = 1, since 0.05 · 10 = 0.5 is in [0.1, 1]; F = 5; k = ⌊(0.5 − 0.1) / 0.9 · 32⌋ = 14;
// code 0 01 01110 = 0x2e; value 0.1 · (0.1 + 0.9 · 14.5 / 32) = 0.05078.
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

// Half way between the smallest value of decade e and the next smaller one, of the decade below; e = −1: between the
// largest value and 1. A magnitude below threshold e is not in decade e or above.
constexpr double dynamic_threshold(bool is_signed, int e) {
  const double above = e < 0 ? 1 : dynamic_value(is_signed, e, 0);
  const int below = e + 1;
  if (below == kDecades) return above / 2;  // 0 is the next
  return (above + dynamic_value(is_signed, below, (1 << fraction_bits(is_signed, below)) - 1)) / 2;
}

// A magnitude a in decade e has the code min(a · scale + base, most), rounded, without its sign: with base half a code below
// the decade's first one rounding is ⌊ ⌋. Below all decades that is the code of no decade at all, which has no sign.
struct alignas(16) DynamicDecade {
  float scale, base, most;
  std::uint32_t sign;  // the bit that a negative number sets
};

// A power of two and what is below the next: the decade of its upper part, and where that begins. Thresholds are ten times
// apart, so that there is one in it at most.
struct alignas(8) DynamicOctave {
  float threshold;
  std::int32_t decade;  // of magnitudes below the threshold it is the next one
};
inline constexpr int kLeastExponent = 127 - 23;  // of fp32: what is below 2^−23 is below all decades
inline constexpr int kOctaves = 127 - kLeastExponent + 2;

// A map's numbers, as kernels keep them at hand.
struct DynamicMap {
  float value[256];  // by code
  DynamicDecade decade[kDecades + 1];
  DynamicOctave octave[kOctaves];
};

constexpr float dynamic_threshold_as_float(bool is_signed, int e) {
  return static_cast<float>(dynamic_threshold(is_signed, e));
}

// The number of decades that are above the magnitude, which is its decade's; 7: it is below all.
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
    // parts, the indicator bit, and k = ⌊(a 10^e − 0.1) / 0.9 · parts⌋
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

// A number's magnitude, 1 at most; of a NaN 1, which has a code.
HEADROOM_BOTH float coded_magnitude(float x) {
  const float given = float_of(bits_of(x) & 0x7fffffffu);
  return given < 1.0f ? given : 1.0f;
}

template <bool kSigned, int kE>
struct DynamicThreshold {
  static constexpr float kValue = dynamic_threshold_as_float(kSigned, kE);
};

// By comparisons alone, which a compiler makes vectors of.
template <bool kSigned, int... kE>
HEADROOM_BOTH int dynamic_decade(float magnitude, std::integer_sequence<int, kE...>) {
  return (0 + ... + static_cast<int>(magnitude < DynamicThreshold<kSigned, kE>::kValue));
}

// By the magnitude's octave: fewer instructions where a table is at hand.
HEADROOM_BOTH int dynamic_decade(float magnitude, const DynamicOctave* octaves) {
  const int exponent = static_cast<int>(bits_of(magnitude) >> 23) - (kLeastExponent - 1);
  const DynamicOctave octave = octaves[exponent > 0 ? exponent : 0];
  return octave.decade + static_cast<int>(magnitude < octave.threshold);
}

// The code of x, whose magnitude is in this decade.
template <bool kSigned>
HEADROOM_BOTH std::uint8_t dynamic_code(float x, float magnitude, const DynamicDecade& decade) {
  constexpr float kRounds = 0x1p23f;  // added, it leaves the nearest integer in the low bits
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

// The code whose value is nearest to x, |x| ≤ 1; with the unsigned map, to |x|, but never 0 for a number above 0: a
// second moment of 0 would leave ε alone below the fraction, and the step would explode. `decades` are the map's. A NaN
// gets some code other than 0.
template <bool kSigned>
HEADROOM_BOTH std::uint8_t dynamic_code(float x, const DynamicDecade* decades) {
  const float magnitude = coded_magnitude(x);
  const int e = dynamic_decade<kSigned>(magnitude, std::make_integer_sequence<int, kDecades>{});
  return dynamic_code<kSigned>(x, magnitude, decades[e]);
}

// What a block's numbers are multiplied by before they are coded. 0 where 1 / absmax is beyond fp32 or not a number:
// finite numbers then get code 0, and the value 0, or NaN through the absmax.
HEADROOM_BOTH float inverse_absmax(float absmax) { return absmax >= 0x1p-126f ? 1.0f / absmax : 0.0f; }

}  // namespace headroom::kernels
