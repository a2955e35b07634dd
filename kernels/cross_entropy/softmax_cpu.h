// A row's softmax in parts on the CPU. A fixed number of lanes lets the compiler vectorize, and keeps sums independent
// of the number of threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/storage_cpu.h"

namespace headroom::kernels {

inline constexpr int kLanes = 32;
inline constexpr std::int64_t kBlock = 2048;  // columns per update of the maximum: 8 KiB of fp32, a quarter of an L1
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// exp(x) for x ≤ 0, accurate to 1e-7: 2^n times a polynomial on [−ln 2 / 2, ln 2 / 2] (Cephes' expf). NaN stays NaN.
HEADROOM_INLINE float exponential(float x) {
  constexpr float kLog2OfE = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: leaves the nearest integer in the low bits
  constexpr float kSmallest = -87.3f;    // below it, exp would be subnormal and becomes 0
  const float kept = x < kSmallest ? kSmallest : x;
  const float rounded = kept * kLog2OfE + kRound;
  const float n = rounded - kRound;
  const float r = (kept - n * kLn2High) - n * kLn2Low;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(rounded) + 127u) << 23;
  const float result = p * std::bit_cast<float>(exponent);
  return x < kSmallest ? 0.0f : result;
}

struct RowSums {
  float max = -kInfinity;
  double sum = 0;    // Σ exp(x − max)
  double total = 0;  // Σ x
};

template <typename T>
HEADROOM_INLINE float block_max(const T* x, std::int64_t columns, float max) {
  float lane_max[kLanes];
  for (int l = 0; l < kLanes; ++l) lane_max[l] = max;
  std::int64_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const float value = load(x[j + l]);
      lane_max[l] = value > lane_max[l] ? value : lane_max[l];
    }
  }
  for (; j < columns; ++j) lane_max[0] = std::max(lane_max[0], load(x[j]));
  for (int l = 0; l < kLanes; ++l) max = std::max(max, lane_max[l]);
  return max;
}

template <typename T>
HEADROOM_INLINE void add_block(RowSums& row, const T* x, std::int64_t columns) {
  const float max = block_max(x, columns, row.max);
  const float shift = max == -kInfinity ? 0.0f : max;  // −∞ − −∞ is NaN
  float sum[kLanes] = {}, total[kLanes] = {};
  std::int64_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const float value = load(x[j + l]);
      sum[l] += exponential(value - shift);
      total[l] += value;
    }
  }
  for (; j < columns; ++j) {
    const float value = load(x[j]);
    sum[0] += exponential(value - shift);
    total[0] += value;
  }
  row.sum *= exponential(row.max - shift);
  row.max = max;
  for (int l = 0; l < kLanes; ++l) {
    row.sum += sum[l];
    row.total += total[l];
  }
}

template <typename T>
HEADROOM_INLINE void add_columns(RowSums& row, const T* x, std::int64_t columns) {
  for (std::int64_t first = 0; first < columns; first += kBlock) {
    add_block(row, x + first, std::min(kBlock, columns - first));
  }
}

// See row_loss() of softmax.cuh.
HEADROOM_INLINE float loss_of(const RowSums& row, float target_logit, float smoothing, std::int64_t vocab) {
  const double log_sum = std::log(row.sum);
  const double loss = log_sum - (static_cast<double>(target_logit) - row.max);
  if (smoothing == 0) return static_cast<float>(loss);
  const double mean = log_sum - (row.total / static_cast<double>(vocab) - row.max);
  return static_cast<float>((1 - smoothing) * loss + smoothing * mean);
}

// Loads all lanes before it stores any, since `out` may be `in`.
template <typename T>
HEADROOM_INLINE void write_gradient(const T* in, T* out, std::int64_t columns, float max, float factor,
                                    float everywhere) {
  std::int64_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) {
    float value[kLanes];
    for (int l = 0; l < kLanes; ++l) value[l] = load(in[j + l]);
    for (int l = 0; l < kLanes; ++l) value[l] = exponential(value[l] - max) * factor - everywhere;
    for (int l = 0; l < kLanes; ++l) store(out[j + l], value[l]);
  }
  for (; j < columns; ++j) store(out[j], exponential(load(in[j]) - max) * factor - everywhere);
}

}  // namespace headroom::kernels
