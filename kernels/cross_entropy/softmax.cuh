// A row's softmax in parts: what threads, blocks and slices of the vocabulary hand to each other.
#pragma once

#include <cstdint>

#include "kernels/storage.cuh"

namespace headroom::kernels {

// exp, to the last bit but one for fp32 storage; for 16-bit storage by one instruction, good to 22 bits.
template <typename T>
__device__ __forceinline__ float exponential(float x) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return expf(x);
  } else {
    constexpr float kLog2OfE = 1.4426950408889634f;
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * kLog2OfE));
    return power;
  }
}

// Of a part of a row: its maximum m, Σ exp(x − m), and Σ x, which label smoothing needs.
struct SoftmaxPart {
  float max = -INFINITY;
  float sum = 0;
  float total = 0;
};

// What to subtract before exp: the maximum, but 0 while all was −∞, as −∞ − −∞ is no number.
__device__ __forceinline__ float safe_shift(float max) { return max == -INFINITY ? 0.0f : max; }

// Adds one vector to a part; a NaN or +∞ makes the sum NaN, as in the definition.
template <typename T, int kWidth>
__device__ __forceinline__ void add_to_part(SoftmaxPart& part, const T (&elements)[kWidth]) {
  float x[kWidth];
  float max = part.max;
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    x[j] = load(elements[j]);
    max = fmaxf(max, x[j]);
  }
  const float shift = safe_shift(max);
  float sum = part.sum * exponential<T>(part.max - shift);
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    sum += exponential<T>(x[j] - shift);
    part.total += x[j];
  }
  part.max = max;
  part.sum = sum;
}

template <typename T>
__device__ __forceinline__ SoftmaxPart merged(const SoftmaxPart& a, const SoftmaxPart& b) {
  SoftmaxPart both;
  both.max = fmaxf(a.max, b.max);
  const float shift = safe_shift(both.max);
  both.sum = a.sum * exponential<T>(a.max - shift) + b.sum * exponential<T>(b.max - shift);
  both.total = a.total + b.total;
  return both;
}

// The warp's parts as one, in all its threads; fixed order.
template <typename T>
__device__ __forceinline__ SoftmaxPart warp_merged(const SoftmaxPart& part) {
  SoftmaxPart all;
  all.max = warp_max(part.max);
  all.sum = warp_sum(part.sum * exponential<T>(part.max - safe_shift(all.max)));
  all.total = warp_sum(part.total);
  return all;
}

// The block's parts as one, valid in warp 0. `parts` is shared memory for one part a warp.
template <typename T>
__device__ __forceinline__ SoftmaxPart block_merged(const SoftmaxPart& part, SoftmaxPart* parts) {
  const SoftmaxPart warp = warp_merged<T>(part);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == 0) parts[threadIdx.x / kWarp] = warp;
  __syncthreads();
  if (threadIdx.x >= kWarp) return warp;
  return warp_merged<T>(lane < static_cast<int>(blockDim.x) / kWarp ? parts[lane] : SoftmaxPart{});
}

// Loss of a row, from its softmax and its target's logit. With smoothing ε: (1 − ε) of the target's −log p and ε of the
// mean −log p over the vocabulary.
__device__ __forceinline__ float row_loss(const SoftmaxPart& row, float target_logit, float smoothing, std::int64_t vocab) {
  const float log_sum = logf(row.sum);
  const float loss = log_sum - (target_logit - row.max);
  if (smoothing == 0) return loss;
  const float mean = log_sum - (row.total / static_cast<float>(vocab) - row.max);
  return (1 - smoothing) * loss + smoothing * mean;
}

// The gradient of one logit x is `factor` · exp(x − max) − `everywhere`, less `at_target` in the target's column.
struct RowGradient {
  float max, factor, everywhere, at_target;
};

__device__ __forceinline__ RowGradient row_gradient(float max, float sum, float scale, float smoothing,
                                                    std::int64_t vocab) {
  return {.max = max,
          .factor = scale / sum,
          .everywhere = scale * smoothing / static_cast<float>(vocab),
          .at_target = scale * (1 - smoothing)};
}

template <typename T>
__device__ __forceinline__ float gradient_of(const RowGradient& row, float x, bool is_target) {
  const float g = exponential<T>(x - row.max) * row.factor - row.everywhere;
  return is_target ? g - row.at_target : g;
}

// The gradient of one vector of logits in place; its element `target` (if within) is the target's.
template <typename T, int kWidth>
__device__ __forceinline__ void to_gradient(const RowGradient& row, T (&elements)[kWidth], std::int64_t target) {
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    store(elements[j], gradient_of<T>(row, load(elements[j]), j == target));
  }
}

// A row as 16-byte vectors with up to `Vector<T>::kWidth − 1` single elements before the first and after the last.
struct RowPlan {
  std::int64_t head, vectors, tail;

  // Column of the i-th of the head + tail single elements.
  __device__ std::int64_t single_column(std::int64_t i) const {
    return i < head ? i : head + vectors_width + (i - head);
  }
  std::int64_t vectors_width;  // columns that lie in vectors
};

template <typename T>
__device__ __forceinline__ RowPlan plan_row(const T* row, std::int64_t columns) {
  constexpr std::int64_t kWidth = Vector<T>::kWidth;
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row) % kVectorBytes) /
                    static_cast<std::int64_t>(sizeof(T));
  const std::int64_t to_boundary = past == 0 ? 0 : kWidth - past;
  RowPlan plan;
  plan.head = to_boundary < columns ? to_boundary : columns;
  plan.vectors = (columns - plan.head) / kWidth;
  plan.vectors_width = plan.vectors * kWidth;
  plan.tail = columns - plan.head - plan.vectors_width;
  return plan;
}

}  // namespace headroom::kernels
