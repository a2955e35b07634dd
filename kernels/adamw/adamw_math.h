// AdamW on one element, bias corrections, stochastic rounding and the choice of types, the same on CPU and CUDA.
#pragma once

#include <cmath>
#include <cstdint>

#include "demos/record/mixed64.h"
#include "kernels/adamw/adamw.h"
#include "kernels/common/both.h"

namespace headroom::kernels {

// base^exponent by squaring, in the same order on CPU and CUDA.
HEADROOM_BOTH double whole_power(double base, std::int64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1) power *= base;
  }
  return power;
}

HEADROOM_BOTH void set_bias_corrections(AdamWStep& step, std::int64_t t) {
  step.t = t;
  step.step_size = static_cast<float>(step.learning_rate / (1 - whole_power(step.exact_beta1, t)));
  step.second_moment_scale = static_cast<float>(1 / std::sqrt(1 - whole_power(step.exact_beta2, t)));
}

HEADROOM_BOTH void adamw_moments(float g, float& m, float& v, const AdamWStep& step) {
  m = step.beta1 * m + (1.0f - step.beta1) * g;
  v = step.beta2 * v + (1.0f - step.beta2) * g * g;
}

HEADROOM_BOTH void adamw_element(float& param, float g, float& m, float& v, const AdamWStep& step) {
  adamw_moments(g, m, v, step);
  const float denominator = std::sqrt(v) * step.second_moment_scale + step.epsilon;
  param = step.decay * param - step.step_size * m / denominator;
}

// Selects the random numbers of one tensor at one step.
struct RoundingKey {
  std::uint32_t low = 0, high = 0;
};

// A 32-bit bijection in which a flipped input bit flips each output bit half the time (C. Wellons, "Prospecting for
// hash functions", 2018).
HEADROOM_BOTH std::uint32_t mixed32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

HEADROOM_BOTH RoundingKey rounding_key(std::uint64_t seed, std::int64_t t, std::int64_t number) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
  std::uint64_t key = record::mixed64(seed + kGolden);
  key = record::mixed64(key ^ (static_cast<std::uint64_t>(t) * kGolden));
  key = record::mixed64(key ^ (static_cast<std::uint64_t>(number) * kGolden));
  return {.low = static_cast<std::uint32_t>(key), .high = static_cast<std::uint32_t>(key >> 32)};
}

// 32 random bits: the low half for element 2 · pair, the high half for the next element. The key enters twice: with a
// single round, two keys would give the same numbers in another order.
HEADROOM_BOTH std::uint32_t rounding_bits(RoundingKey key, std::int64_t pair) {
  const std::uint32_t above = static_cast<std::uint32_t>(static_cast<std::uint64_t>(pair) >> 32) * 0x9e3779b9u;
  return mixed32(mixed32(static_cast<std::uint32_t>(pair) ^ key.low) ^ key.high ^ above);
}

// bf16 bits of `value`, rounded away from zero if the sum of its low 16 bits and `random` (16 bits) carries. Exact bf16
// values, infinity and NaN stay.
HEADROOM_BOTH std::uint16_t rounded_stochastically(float value, std::uint32_t random) {
  const std::uint32_t bits = bits_of(value);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<std::uint16_t>(nan ? 0x7fc0u : (bits + random) >> 16);
}

// Shared by all elements of a tensor.
struct AdamWShared {
  AdamWStep step;
  float gradient_scale;
  bool stochastic;
  RoundingKey key;
};

inline AdamWShared adamw_shared(AdamWStep step, const AdamWSwitches& switches, bool decays, std::int64_t number) {
  if (switches.step_count != nullptr) set_bias_corrections(step, *switches.step_count);
  if (!decays) step.decay = 1.0f;
  return {.step = step,
          .gradient_scale = switches.inverse_scale != nullptr ? *switches.inverse_scale : 1.0f,
          .stochastic = switches.stochastic_rounding,
          .key = rounding_key(switches.seed, step.t, number)};
}

// Type of an absent working copy.
struct NoCopy {
  std::uint16_t bits;
};

// Calls f(P{}, G{}, W{}) with the types of weight, gradient and working copy.
template <typename F>
HEADROOM_INLINE auto with_weight(const AdamWTypes& types, F&& f) {
  const auto with_copy = [&](auto w) HEADROOM_INLINED {
    return types.gradient == Storage::kFp32 ? f(float{}, float{}, w) : f(float{}, w, w);
  };
  if (types.working) return *types.working == Storage::kBf16 ? with_copy(Bf16{}) : with_copy(Fp16{});
  return with_storage(types.param, [&](auto p) HEADROOM_INLINED {
    return types.gradient == types.param ? f(p, p, NoCopy{}) : f(p, float{}, NoCopy{});
  });
}

}  // namespace headroom::kernels
