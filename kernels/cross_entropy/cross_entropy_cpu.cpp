// Cross entropy and its gradient on the CPU: a row is read from memory once and stays in the core's cache for its gradient.
// The loops go over lanes of fixed number, so that the compiler turns them into vector instructions and the order of the
// sums does not depend on the number of threads.
#include "kernels/cross_entropy/cross_entropy.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/storage_cpu.h"

namespace headroom::kernels {

namespace {

constexpr int kLanes = 32;
constexpr std::int64_t kBlock = 2048;  // columns between two looks at the maximum: 8 KiB of fp32, a quarter of an L1
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// exp(x) for x ≤ 0, to 1e-7: 2^n times a polynomial on [−ln 2 / 2, ln 2 / 2] (Cephes' expf). NaN stays NaN.
HEADROOM_INLINE float exponential(float x) {
  constexpr float kLog2OfE = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it leaves the nearest integer in the low bits
  constexpr float kSmallest = -87.3f;    // below, the result would be no normal number: 0
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
  const float shift = max == -kInfinity ? 0.0f : max;  // −∞ − −∞ is no number
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

// Elements are loaded before any is stored, as `out` may be `in`.
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

void raise_flag(std::int64_t& flag, std::int64_t value) {
  std::atomic_ref<std::int64_t> shared(flag);
  std::int64_t seen = shared.load();
  while (seen < value && !shared.compare_exchange_weak(seen, value)) {
  }
}

template <typename T>
HEADROOM_INLINE void cross_entropy_row(const CrossEntropyArgs& args, std::int64_t row) {
  const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
  T* const out = args.dlogits == nullptr ? nullptr : static_cast<T*>(args.dlogits) + row * args.stride;
  const std::int64_t target = args.targets[row], vocab = args.vocab;
  const bool ignored = target == args.ignore_index;
  const bool outside = !ignored && (target < 0 || target >= vocab);
  if (ignored || outside) {
    if (outside && args.error_flag != nullptr) raise_flag(*args.error_flag, row + 1);
    args.loss[row] = outside ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
    if (out != nullptr) std::fill(out, out + vocab, T{});
    return;
  }
  RowSums sums;
  for (std::int64_t first = 0; first < vocab; first += kBlock) {
    add_block(sums, in + first, std::min(kBlock, vocab - first));
  }
  const float target_logit = load(in[target]), smoothing = args.label_smoothing;
  const double log_sum = std::log(sums.sum);
  const double loss = log_sum - (static_cast<double>(target_logit) - sums.max);
  const double mean = log_sum - (sums.total / static_cast<double>(vocab) - sums.max);
  args.loss[row] = static_cast<float>(smoothing == 0 ? loss : (1 - smoothing) * loss + smoothing * mean);
  if (out == nullptr) return;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  const float factor = static_cast<float>(scale / sums.sum);
  const float everywhere = scale * smoothing / static_cast<float>(vocab);
  write_gradient(in, out, vocab, sums.max, factor, everywhere);
  store(out[target], exponential(target_logit - sums.max) * factor - everywhere - scale * (1 - smoothing));
}

HEADROOM_VECTOR_TARGETS void rows_fp32(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) cross_entropy_row<float>(args, row);
}
HEADROOM_VECTOR_TARGETS void rows_bf16(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) cross_entropy_row<Bf16>(args, row);
}
HEADROOM_VECTOR_TARGETS void rows_fp16(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) cross_entropy_row<Fp16>(args, row);
}

}  // namespace

void cross_entropy_cpu(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end) {
  switch (args.storage) {
    case Storage::kFp32:
      rows_fp32(args, begin, end);
      break;
    case Storage::kBf16:
      rows_bf16(args, begin, end);
      break;
    case Storage::kFp16:
      rows_fp16(args, begin, end);
      break;
  }
}

}  // namespace headroom::kernels
