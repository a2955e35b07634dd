// Loads and stores of bf16 and fp16 on the CPU, and which instructions the loops are compiled for.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/storage.h"

// On a function that is no template: compiled twice, for any x86-64 and for those with AVX2, FMA and F16C (2013 and
// later); the processor decides when the program starts. What it calls must be inlined into it: HEADROOM_INLINE.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HEADROOM_VECTOR_TARGETS __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HEADROOM_VECTOR_TARGETS
#endif
#define HEADROOM_INLINE inline __attribute__((always_inline))

namespace headroom::kernels {

HEADROOM_INLINE float load(float value) { return value; }
HEADROOM_INLINE float load(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }
HEADROOM_INLINE float load(Fp16 value) { return static_cast<float>(std::bit_cast<_Float16>(value.bits)); }

HEADROOM_INLINE void store(float& place, float value) { place = value; }

// Rounds to the nearest bf16, ties to even; a NaN stays one.
HEADROOM_INLINE void store(Bf16& place, float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  place.bits = static_cast<std::uint16_t>(nan ? 0x7fc0u : rounded);
}
HEADROOM_INLINE void store(Fp16& place, float value) {
  place.bits = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

}  // namespace headroom::kernels
