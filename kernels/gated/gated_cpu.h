// Loops of SwiGLU and GeGLU that the compiler vectorizes. Called only by functions with HEADROOM_VECTOR_TARGETS.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/storage_cpu.h"
#include "kernels/gated/gated.h"

namespace headroom::kernels {

// e^x to about one unit in the last place, with correct ∞, 0 and NaN. x = n ln 2 + r with
// |r| ≤ ½ ln 2; the Taylor series to r⁷ has an error below 2^−27.
HEADROOM_INLINE float exponential(float x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRounder = 12582912.0f;  // 1.5 · 2²³: leaves the integer in the low bits
  x = x > 89.0f ? 89.0f : x;               // e^89 is ∞ in fp32
  x = x < -104.0f ? -104.0f : x;           // e^−104 is 0
  const float shifted = x * kLog2E + kRounder;
  const float n = shifted - kRounder;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // 2^n in two factors, since n is in [−150, 128].
  const auto power =
      static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRounder));
  const std::int32_t half = power >> 1;
  const auto two_to = [](std::int32_t exponent) {
    return std::bit_cast<float>((static_cast<std::uint32_t>(exponent) + 127u) << 23);
  };
  return p * two_to(half) * two_to(power - half);
}

HEADROOM_INLINE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

struct ValueAndSlope {
  float value, slope;
};

template <typename Activation, typename T>
HEADROOM_INLINE void gated_forward_loop(const GatedForward& args, std::int64_t begin, std::int64_t end) {
  const T* __restrict gate = static_cast<const T*>(args.gate);
  const T* __restrict up = static_cast<const T*>(args.up);
  T* __restrict h = static_cast<T*>(args.h);
  for (std::int64_t i = begin; i < end; ++i) store(h[i], Activation::value(load(gate[i])) * load(up[i]));
}

// Each output element may overwrite its inputs, but no iteration depends on another.
template <typename Activation, typename T, bool kRebuild>
HEADROOM_INLINE void gated_backward_loop(const GatedBackward& args, std::int64_t begin, std::int64_t end) {
  const T* const dh = static_cast<const T*>(args.dh);
  const T* const gate = static_cast<const T*>(args.gate);
  const T* const up = static_cast<const T*>(args.up);
  T* const dgate = static_cast<T*>(args.dgate);
  T* const dup = static_cast<T*>(args.dup);
  T* const h = static_cast<T*>(args.h);
#pragma GCC ivdep
  for (std::int64_t i = begin; i < end; ++i) {
    const float d = load(dh[i]), u = load(up[i]);
    const ValueAndSlope a = Activation::value_and_slope(load(gate[i]));
    store(dgate[i], d * u * a.slope);
    store(dup[i], d * a.value);
    if constexpr (kRebuild) store(h[i], a.value * u);
  }
}

template <typename Activation>
HEADROOM_INLINE void gated_forward_cpu(const GatedForward& args, Storage storage, std::int64_t begin,
                                       std::int64_t end) {
  with_storage(storage,
               [&](auto type) HEADROOM_INLINED { gated_forward_loop<Activation, decltype(type)>(args, begin, end); });
}

template <typename Activation>
HEADROOM_INLINE void gated_backward_cpu(const GatedBackward& args, Storage storage, std::int64_t begin,
                                        std::int64_t end) {
  with_storage(storage, [&](auto type) HEADROOM_INLINED {
    using T = decltype(type);
    args.h != nullptr ? gated_backward_loop<Activation, T, true>(args, begin, end)
                      : gated_backward_loop<Activation, T, false>(args, begin, end);
  });
}

}  // namespace headroom::kernels
