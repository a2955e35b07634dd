// A row's softmax in parts, which threads, blocks and slices of the vocabulary merge.
#pragma once

#include <cstdint>

#include "kernels/common/storage.cuh"

namespace headroom::kernels {

// For fp32 storage, exp is e^x, accurate to the last bit but one. For 16-bit storage it is 2^(x log2 e), accurate to 22
// bits: one instruction scales x and subtracts the maximum, another computes the power. Shifts and differences are
// scaled by kScale.
template <typename T>
struct Exponent {
  static constexpr float kScale = 1.4426950408889634f;  // log2 e
  static __device__ __forceinline__ float power(float difference) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(difference));
    return result;
  }
  static __device__ __forceinline__ float power_of(float x, float shift) { return power(fmaf(x, kScale, -shift)); }
  // log Σ − x, from the sum of shifted powers.
  static __device__ __forceinline__ float log_ratio(float sum, float shift, float x) {
    return (log2f(sum) + fmaf(-x, kScale, shift)) * 0.69314718055994531f;
  }
};

template <>
struct Exponent<float> {
  static constexpr float kScale = 1;
  static __device__ __forceinline__ float power(float difference) { return expf(difference); }
  static __device__ __forceinline__ float power_of(float x, float shift) { return expf(x - shift); }
  static __device__ __forceinline__ float log_ratio(float sum, float shift, float x) { return logf(sum) - (x - shift); }
};

// One register's elements as fp32.
template <typename T>
struct Word {
  static constexpr int kElements = 1;
  static constexpr std::uint32_t kMinusInfinity = 0xff800000u;
  static __device__ __forceinline__ void unpack(std::uint32_t word, float* x) { x[0] = __uint_as_float(word); }
  static __device__ __forceinline__ std::uint32_t pack(const float* x) { return __float_as_uint(x[0]); }
  static __device__ __forceinline__ std::uint32_t max(std::uint32_t a, std::uint32_t b) {
    return __float_as_uint(fmaxf(__uint_as_float(a), __uint_as_float(b)));
  }
};

template <>
struct Word<Bf16> {
  static constexpr int kElements = 2;
  static constexpr std::uint32_t kMinusInfinity = 0xff80ff80u;
  static __device__ __forceinline__ void unpack(std::uint32_t word, float* x) {
    x[0] = __uint_as_float(word << 16);
    x[1] = __uint_as_float(word & 0xffff0000u);
  }
  static __device__ __forceinline__ std::uint32_t pack(const float* x) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(x[0], x[1]);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
  }
  static __device__ __forceinline__ std::uint32_t max(std::uint32_t a, std::uint32_t b) {
    const __nv_bfloat162 larger =
        __hmax2(*reinterpret_cast<const __nv_bfloat162*>(&a), *reinterpret_cast<const __nv_bfloat162*>(&b));
    return *reinterpret_cast<const std::uint32_t*>(&larger);
  }
};

template <>
struct Word<Fp16> {
  static constexpr int kElements = 2;
  static constexpr std::uint32_t kMinusInfinity = 0xfc00fc00u;
  static __device__ __forceinline__ void unpack(std::uint32_t word, float* x) {
    const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&word));
    x[0] = pair.x;
    x[1] = pair.y;
  }
  static __device__ __forceinline__ std::uint32_t pack(const float* x) {
    const __half2 pair = __floats2half2_rn(x[0], x[1]);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
  }
  static __device__ __forceinline__ std::uint32_t max(std::uint32_t a, std::uint32_t b) {
    const __half2 larger = __hmax2(*reinterpret_cast<const __half2*>(&a), *reinterpret_cast<const __half2*>(&b));
    return *reinterpret_cast<const std::uint32_t*>(&larger);
  }
};

// 16 bytes of a row; 16-bit elements stay packed until used.
template <typename T>
struct RowVector {
  static constexpr int kWords = 4;
  static constexpr int kWidth = kWords * Word<T>::kElements;
  std::uint32_t word[kWords];

  static __device__ __forceinline__ RowVector of_minus_infinity() {
    constexpr std::uint32_t kBits = Word<T>::kMinusInfinity;
    return {{kBits, kBits, kBits, kBits}};
  }
  static __device__ __forceinline__ RowVector load_streaming(const void* place) {
    const uint4 bits = __ldcs(static_cast<const uint4*>(place));
    return {{bits.x, bits.y, bits.z, bits.w}};
  }
  static __device__ __forceinline__ RowVector load(const void* place) {
    const uint4 bits = *static_cast<const uint4*>(place);
    return {{bits.x, bits.y, bits.z, bits.w}};
  }
  __device__ __forceinline__ void store_streaming(void* place) const {
    __stcs(static_cast<uint4*>(place), make_uint4(word[0], word[1], word[2], word[3]));
  }
  __device__ __forceinline__ void store(void* place) const {
    *static_cast<uint4*>(place) = make_uint4(word[0], word[1], word[2], word[3]);
  }
  __device__ __forceinline__ void unpack(float (&x)[kWidth]) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i) Word<T>::unpack(word[i], x + i * Word<T>::kElements);
  }
  __device__ __forceinline__ void pack(const float (&x)[kWidth]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) word[i] = Word<T>::pack(x + i * Word<T>::kElements);
  }
  // Makes the compiler unpack again.
  __device__ __forceinline__ void keep_packed() {
    asm volatile("" : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3]));
  }
};

// The largest element of many vectors, comparing 16-bit elements in pairs. Skips NaN, which shows up in the sum.
template <typename T>
struct RunningMax {
  std::uint32_t word = Word<T>::kMinusInfinity;
  __device__ __forceinline__ void add(const RowVector<T>& vector) {
    const std::uint32_t first = Word<T>::max(vector.word[0], vector.word[1]);
    const std::uint32_t second = Word<T>::max(vector.word[2], vector.word[3]);
    word = Word<T>::max(word, Word<T>::max(first, second));
  }
  __device__ __forceinline__ float value() const {
    float x[2] = {-INFINITY, -INFINITY};
    Word<T>::unpack(word, x);
    return fmaxf(x[0], x[1]);
  }
};

// A part of a row: its scaled maximum, Σ exp(x − maximum), and Σ x for label smoothing.
struct SoftmaxPart {
  float shift = -INFINITY;
  float sum = 0;
  float total = 0;
};

// The shift to subtract: 0 while all elements are −∞, since −∞ − −∞ is NaN.
__device__ __forceinline__ float safe(float shift) { return shift == -INFINITY ? 0.0f : shift; }

template <typename T>
__device__ __forceinline__ float sum_of_powers(const RowVector<T>& vector, float shift) {
  float x[RowVector<T>::kWidth];
  vector.unpack(x);
  float sum = 0;
#pragma unroll
  for (const float element : x) sum += Exponent<T>::power_of(element, shift);
  return sum;
}

template <typename T>
__device__ __forceinline__ float sum_of(const RowVector<T>& vector) {
  float x[RowVector<T>::kWidth];
  vector.unpack(x);
  float sum = 0;
#pragma unroll
  for (const float element : x) sum += element;
  return sum;
}

// NaN or +∞ makes the sum NaN, as in softmax's definition.
template <typename T>
__device__ __forceinline__ SoftmaxPart part_of(float x) {
  const float shift = x * Exponent<T>::kScale;
  return {.shift = shift, .sum = Exponent<T>::power_of(x, safe(shift)), .total = x};
}

template <typename T>
__device__ __forceinline__ void add_to_part(SoftmaxPart& part, const RowVector<T>& vector, bool with_total) {
  RunningMax<T> max;
  max.add(vector);
  const float shift = fmaxf(part.shift, max.value() * Exponent<T>::kScale);
  part.sum = part.sum * Exponent<T>::power(part.shift - safe(shift)) + sum_of_powers(vector, safe(shift));
  part.shift = shift;
  if (with_total) part.total += sum_of(vector);
}

template <typename T>
__device__ __forceinline__ SoftmaxPart merged(const SoftmaxPart& a, const SoftmaxPart& b) {
  const float shift = fmaxf(a.shift, b.shift);
  return {.shift = shift,
          .sum = a.sum * Exponent<T>::power(a.shift - safe(shift)) + b.sum * Exponent<T>::power(b.shift - safe(shift)),
          .total = a.total + b.total};
}

// Merges a warp's parts in a fixed order, for all its threads.
template <typename T>
__device__ __forceinline__ SoftmaxPart warp_merged(const SoftmaxPart& part, bool with_total) {
  const float shift = warp_max(part.shift);
  return {.shift = shift,
          .sum = warp_sum(part.sum * Exponent<T>::power(part.shift - safe(shift))),
          .total = with_total ? warp_sum(part.total) : 0.0f};
}

// The result is valid in warp 0 only. `parts` is shared memory, one part per warp.
template <typename T>
__device__ __forceinline__ SoftmaxPart block_merged(const SoftmaxPart& part, SoftmaxPart* parts, bool with_total) {
  const SoftmaxPart warp = warp_merged<T>(part, with_total);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == 0) parts[threadIdx.x / kWarp] = warp;
  __syncthreads();
  if (threadIdx.x >= kWarp) return warp;
  return warp_merged<T>(lane < static_cast<int>(blockDim.x) / kWarp ? parts[lane] : SoftmaxPart{}, with_total);
}

// With smoothing ε, the loss is (1 − ε) · (the target's −log p) + ε · (the mean −log p).
template <typename T>
__device__ __forceinline__ float row_loss(const SoftmaxPart& row, float target_logit, float smoothing,
                                          std::int64_t vocab) {
  const float loss = Exponent<T>::log_ratio(row.sum, row.shift, target_logit);
  if (smoothing == 0) return loss;
  const float mean = Exponent<T>::log_ratio(row.sum, row.shift, row.total / static_cast<float>(vocab));
  return (1 - smoothing) * loss + smoothing * mean;
}

// The gradient of a logit is `factor` · exp(x − maximum) − `everywhere`, minus `at_target` in the target's column.
struct RowGradient {
  float shift, factor, everywhere, at_target;
};

__device__ __forceinline__ RowGradient row_gradient(const SoftmaxPart& row, float scale, float smoothing,
                                                    std::int64_t vocab) {
  return {.shift = row.shift,
          .factor = scale / row.sum,
          .everywhere = scale * smoothing / static_cast<float>(vocab),
          .at_target = scale * (1 - smoothing)};
}

template <typename T>
__device__ __forceinline__ float gradient_of(const RowGradient& row, float x, bool is_target) {
  const float g = fmaf(Exponent<T>::power_of(x, row.shift), row.factor, -row.everywhere);
  return is_target ? g - row.at_target : g;
}

// Replaces logits by their gradient; `target` is the target's index in the vector, if it is inside.
template <typename T>
__device__ __forceinline__ void to_gradient(const RowGradient& row, RowVector<T>& vector, std::int64_t target) {
  float x[RowVector<T>::kWidth];
  vector.unpack(x);
#pragma unroll
  for (float& element : x) element = gradient_of<T>(row, element, false);
  if (target >= 0 && target < RowVector<T>::kWidth) {  // true for one vector per row
#pragma unroll
    for (int j = 0; j < RowVector<T>::kWidth; ++j) x[j] -= j == static_cast<int>(target) ? row.at_target : 0.0f;
  }
  vector.pack(x);
}

// A row as 16-byte vectors, with up to `Vector<T>::kWidth − 1` single elements before and after them.
struct RowPlan {
  std::int64_t head = 0, vectors = 0, tail = 0;
  std::int64_t in_vectors = 0;

  // Column of the i-th of the head + tail single elements.
  __device__ std::int64_t single_column(std::int64_t i) const { return i < head ? i : in_vectors + i; }
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
  plan.in_vectors = plan.vectors * kWidth;
  plan.tail = columns - plan.head - plan.in_vectors;
  return plan;
}

}  // namespace headroom::kernels
