// Loads and stores of bf16 and fp16 on the CPU, and the instruction sets that loops are compiled for.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/both.h"
#include "kernels/common/storage.h"

// Compiles a function (not a template) three times: for any x86-64, for AVX2 with FMA and F16C (CPUs since 2013), and
// for AVX-512, whose narrowing stores make 16-bit loops two to three times as fast. Callees must be HEADROOM_INLINE,
// lambdas HEADROOM_INLINED.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HEADROOM_VECTOR_TARGETS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HEADROOM_VECTOR_TARGETS
#endif

namespace headroom::kernels {

HEADROOM_INLINE float load(float value) { return value; }
HEADROOM_INLINE float load(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

// Uses integers, since g++ does not vectorize its own conversions. Shifted into fp32's fields, the number is too small
// by a factor of 2^112; the multiplication corrects this exactly, also for subnormals.
HEADROOM_INLINE float load(Fp16 value) {
  const std::uint32_t magnitude = value.bits & 0x7fffu;
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
  const std::uint32_t bits = magnitude >= 0x7c00u ? (magnitude << 13) | 0x7f800000u : finite;
  return std::bit_cast<float>(bits | (std::uint32_t{value.bits} & 0x8000u) << 16);
}

HEADROOM_INLINE void store(float& place, float value) { place = value; }

// Rounds to nearest, ties to even; NaN stays NaN.
HEADROOM_INLINE void store(Bf16& place, float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  place.bits = static_cast<std::uint16_t>(nan ? 0x7fc0u : rounded);
}

// Rounds as for bf16. Below 2^−14, adding ½ rounds: the low bits of the sum are the magnitude in multiples of 2^−24.
HEADROOM_INLINE void store(Fp16& place, float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  std::uint32_t rounded = magnitude < 0x38800000u ? subnormal : normal;  // 2^−14
  rounded = magnitude >= 0x477ff000u ? 0x7c00u : rounded;                // 65520, the midpoint above the largest half
  rounded = magnitude > 0x7f800000u ? 0x7e00u : rounded;
  place.bits = static_cast<std::uint16_t>(rounded | (bits >> 16 & 0x8000u));
}

// Largest magnitude, compared as integers, so inf and NaN are the largest.
template <typename T>
HEADROOM_INLINE float absmax_of(const T* values, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = bits_of(load(values[i])) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  return float_of(largest);
}

// Elements in block `block` of an array of n; the last block may be shorter.
HEADROOM_INLINE int count_in_block(std::int64_t n, std::int64_t block, std::int64_t size) {
  const std::int64_t left = n - block * size;
  return static_cast<int>(left < size ? left : size);
}

}  // namespace headroom::kernels
