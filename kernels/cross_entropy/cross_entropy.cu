// Computes    loss_i = log Σ_j exp(x_ij) − x_it, t = target of row i;  dx_ij = scale · (softmax(x_i)_j − [j = t])
// Shapes      x, dx [N, V] with rows `stride` apart; targets, loss [N]
// Precision   storage fp32, bf16 or fp16; arithmetic and loss fp32
// Memory      moves 2·N·V·s bytes (s per element) with the gradient, N·V·s without
// Variants    one read, held: a block keeps the row in registers (up to 128 KiB);
//             one read, spread over a cluster (cross_entropy_spread.cu; Hopper and later, from 16 KiB per row);
//             two reads: one row in flight per multiprocessor, so that the second read hits the L2
// Source      Milakov, Gimelshein 2018, arXiv:1805.02867 (the running maximum); label smoothing: Szegedy et al. 2016,
//             arXiv:1512.00567, section 7
// Checked by  tests/kernels/loss/cross_entropy_cases.cpp
#include <algorithm>
#include <iterator>

#include "kernels/common/storage.cuh"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/cross_entropy/rows.cuh"
#include "kernels/cross_entropy/softmax.cuh"
#include "kernels/cross_entropy/spread.h"

namespace headroom::kernels {

namespace {

constexpr int kMostThreads = 1024;
constexpr int kScaleThreads = 256;

template <typename T, int kCount>
__device__ __forceinline__ void keep_packed(RowVector<T> (&vectors)[kCount]) {
#pragma unroll
  for (RowVector<T>& vector : vectors) vector.keep_packed();
}

// A block holds a row in registers: `kHeld` vectors per thread, single elements in the first threads, −∞ past the end.
template <typename T, int kHeld>
__global__ void __launch_bounds__(kHeld == 8 ? kMostThreads : 512, kHeld == 8 ? 1 : 3)
    held_kernel(const CrossEntropyArgs args) {
  __shared__ SoftmaxPart warp_parts[kMostThreads / kWarp];
  __shared__ SoftmaxPart row_part;
  const std::int64_t row = blockIdx.x;
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  const std::int64_t target = args.targets[row];
  if (!row_counts<T>(args, row, target, true)) {
    zero_row<T>(args, row, thread, threads);
    return;
  }
  const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
  const RowPlan plan = plan_row(in, args.vocab);
  const int vectors = static_cast<int>(plan.vectors);
  const auto* const in_vectors = reinterpret_cast<const uint4*>(in + plan.head);
  RowVector<T> held[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = k * threads + thread;
    held[k] = RowVector<T>::of_minus_infinity();
    if (i < vectors) held[k] = RowVector<T>::load_streaming(in_vectors + i);
  }
  const bool smooths = args.label_smoothing != 0;
  const bool has_single = thread < plan.head + plan.tail;
  const int single_column = static_cast<int>(plan.single_column(thread));
  const float single = has_single ? load(in[single_column]) : -INFINITY;
  const float target_logit = thread == 0 ? load(in[target]) : 0.0f;

  RunningMax<T> max;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) max.add(held[k]);
  SoftmaxPart part{.shift = fmaxf(max.value(), single) * Exponent<T>::kScale};
  keep_packed(held);
  const float shift = safe(part.shift);
  part.sum = Exponent<T>::power_of(single, shift);
#pragma unroll
  for (int k = 0; k < kHeld; ++k) part.sum += sum_of_powers(held[k], shift);
  keep_packed(held);
  if (smooths) {
    part.total = has_single ? single : 0.0f;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (k * threads + thread < vectors) part.total += sum_of(held[k]);
    }
    keep_packed(held);
  }
  const SoftmaxPart whole = block_merged<T>(part, warp_parts, smooths);
  if (thread == 0) {
    row_part = whole;
    args.loss[row] = row_loss<T>(whole, target_logit, args.label_smoothing, args.vocab);
  }
  if (args.dlogits == nullptr) return;
  __syncthreads();  // row_part is written, and all logits are read
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  const RowGradient gradient = row_gradient(row_part, scale, args.label_smoothing, args.vocab);
  T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
  const bool aligned_alike = same_alignment<T>(in, out);
  const int target_in_vectors = static_cast<int>(target - plan.head);
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = k * threads + thread;
    if (i >= vectors) continue;
    to_gradient(gradient, held[k], target_in_vectors - i * RowVector<T>::kWidth);
    put_vector(out + plan.head + std::int64_t{i} * RowVector<T>::kWidth, held[k], aligned_alike);
  }
  if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
}

// Each block processes one row at a time.
template <typename T>
__global__ void __launch_bounds__(kMostThreads) two_reads_kernel(const CrossEntropyArgs args) {
  __shared__ SoftmaxPart warp_parts[kMostThreads / kWarp];
  __shared__ SoftmaxPart row_part;
  constexpr int kInFlight = 4;
  const std::int64_t thread = threadIdx.x, threads = blockDim.x;
  const bool smooths = args.label_smoothing != 0;
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const std::int64_t target = args.targets[row];
    if (!row_counts<T>(args, row, target, true)) {
      zero_row<T>(args, row, thread, threads);
      continue;
    }
    const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
    const RowPlan plan = plan_row(in, args.vocab);
    const auto* const vectors = reinterpret_cast<const uint4*>(in + plan.head);
    const bool has_single = thread < plan.head + plan.tail;
    const std::int64_t single_column = plan.single_column(thread);
    const float single = has_single ? load(in[single_column]) : -INFINITY;
    const float target_logit = thread == 0 ? load(in[target]) : 0.0f;
    SoftmaxPart part;
    if (has_single) part = part_of<T>(single);
    for (std::int64_t first = thread; first < plan.vectors; first += kInFlight * threads) {
      RowVector<T> read[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (first + k * threads < plan.vectors) read[k] = RowVector<T>::load(vectors + first + k * threads);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (first + k * threads < plan.vectors) add_to_part(part, read[k], smooths);
      }
    }
    const SoftmaxPart block = block_merged<T>(part, warp_parts, smooths);
    if (thread == 0) {
      row_part = block;
      args.loss[row] = row_loss<T>(block, target_logit, args.label_smoothing, args.vocab);
    }
    __syncthreads();  // as in held_kernel
    if (args.dlogits == nullptr) continue;
    const float scale = args.scale == nullptr ? 1.0f : *args.scale;
    const RowGradient gradient = row_gradient(row_part, scale, args.label_smoothing, args.vocab);
    T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
    const bool aligned_alike = same_alignment<T>(in, out);
#pragma unroll kInFlight
    for (std::int64_t i = thread; i < plan.vectors; i += threads) {
      RowVector<T> value = RowVector<T>::load_streaming(vectors + i);
      const std::int64_t column = plan.head + i * RowVector<T>::kWidth;
      to_gradient(gradient, value, target - column);
      put_vector(out + column, value, aligned_alike);
    }
    if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
    __syncthreads();  // the shared parts may be reused
  }
}

// Number of rows that are not ignored, returned to all threads of the only block.
__device__ std::int64_t count_valid(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index) {
  std::int64_t valid = 0;
  for (std::int64_t first = 0; first < rows; first += blockDim.x) {
    const std::int64_t row = first + threadIdx.x;
    valid += __syncthreads_count(row < rows && targets[row] != ignore_index);
  }
  return valid;
}

__global__ void __launch_bounds__(kMostThreads)
    scale_kernel(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index, std::int64_t valid_count,
                 Reduction reduction, const float* grad_scale, float* scale) {
  std::int64_t divisor = 1;
  if (reduction == Reduction::kMean) {
    divisor = valid_count >= 0 ? valid_count : count_valid(targets, rows, ignore_index);
  }
  if (threadIdx.x != 0) return;
  const float part = divisor == 0 ? 0.0f : 1.0f / static_cast<float>(divisor);
  scale[0] = (grad_scale == nullptr ? 1.0f : *grad_scale) * part;
  scale[1] = part;
}

__global__ void __launch_bounds__(kMostThreads)
    total_kernel(const float* loss, std::int64_t rows, const float* factor, float* total) {
  __shared__ double warp_sums[kMostThreads / kWarp];
  double sum = 0;
  for (std::int64_t row = threadIdx.x; row < rows; row += blockDim.x) sum += loss[row];
  for (int lane = kWarp / 2; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % kWarp == 0) warp_sums[threadIdx.x / kWarp] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double all = 0;
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) all += warp_sums[warp];
  *total = static_cast<float>(all) * *factor;
}

template <typename T>
__global__ void __launch_bounds__(kScaleThreads) scale_gradient_kernel(const ScaleGradientArgs args) {
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const float made_for = args.made_for == nullptr ? 1.0f : args.made_for[args.made_for_per_row ? row : 0];
    const float factor = args.upstream[args.upstream_per_row ? row : 0] / made_for;
    if (factor == 1.0f) continue;
    T* const out = static_cast<T*>(args.gradient) + row * args.width;
    const RowPlan plan = plan_row(out, args.width);
    auto* const vectors = reinterpret_cast<Vector<T>*>(out + plan.head);
    for (std::int64_t i = threadIdx.x; i < plan.vectors; i += blockDim.x) {
      Vector<T> value = vectors[i];
#pragma unroll
      for (int j = 0; j < Vector<T>::kWidth; ++j) store(value.element[j], load(value.element[j]) * factor);
      vectors[i] = value;
    }
    if (threadIdx.x < plan.head + plan.tail) {
      T& single = out[plan.single_column(threadIdx.x)];
      store(single, load(single) * factor);
    }
  }
}

template <typename T, int kHeld>
int launch_held(const CrossEntropyArgs& args, int threads, CUstream_st* stream) {
  held_kernel<T, kHeld><<<static_cast<unsigned>(args.rows), threads, 0, stream>>>(args);
  return cudaGetLastError();
}

// `threads` threads hold a row of up to `vectors` vectors, `held` each. Four vectors per thread keep enough loads in
// flight.
struct HeldRow {
  int vectors, held, threads;
};
constexpr HeldRow kHeldRows[] = {{64, 1, 64},    {256, 1, 256},  {512, 2, 256},  {1024, 4, 256},
                                 {2048, 4, 512}, {4096, 8, 512}, {8192, 8, 1024}};
constexpr std::int64_t kMostHeldBytes = std::int64_t{std::end(kHeldRows)[-1].vectors} * kVectorBytes;

// For rows of at most kMostHeldBytes.
template <typename T>
int launch_held(const CrossEntropyArgs& args, CUstream_st* stream) {
  const HeldRow* row = kHeldRows;
  while (row->vectors < args.vocab / RowVector<T>::kWidth) ++row;
  switch (row->held) {
    case 1:
      return launch_held<T, 1>(args, row->threads, stream);
    case 2:
      return launch_held<T, 2>(args, row->threads, stream);
    case 4:
      return launch_held<T, 4>(args, row->threads, stream);
    default:
      return launch_held<T, 8>(args, row->threads, stream);
  }
}

template <typename T>
int launch(const CrossEntropyArgs& args, CUstream_st* stream, CrossEntropyVariant variant) {
  constexpr std::int64_t kMostBlocks = 2'147'483'647, kHeldBytesBesideClusters = 16 << 10;
  const bool spreads = spread_takes(args);
  const std::int64_t bytes = args.vocab / RowVector<T>::kWidth * kVectorBytes;
  const bool held = bytes <= (spreads ? kHeldBytesBesideClusters : kMostHeldBytes) && args.rows <= kMostBlocks;
  if (variant != CrossEntropyVariant::kTwoReads) {
    if (held) return launch_held<T>(args, stream);
    if (spreads) return cross_entropy_spread_cuda(args, stream);
    if (variant == CrossEntropyVariant::kOneRead) return cudaErrorInvalidConfiguration;
  }
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(args.rows, multiprocessors()));
  two_reads_kernel<T><<<blocks, kMostThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace

int cross_entropy_cuda(const CrossEntropyArgs& args, CUstream_st* stream, CrossEntropyVariant variant) {
  if (args.rows == 0) return cudaSuccess;
  return with_storage(args.storage, [&](auto type) { return launch<decltype(type)>(args, stream, variant); });
}

int cross_entropy_scale_cuda(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index,
                             std::int64_t valid_count, Reduction reduction, const float* grad_scale, float* scale,
                             CUstream_st* stream) {
  const bool counts = reduction == Reduction::kMean && valid_count < 0;
  scale_kernel<<<1, counts ? kMostThreads : kWarp, 0, stream>>>(targets, rows, ignore_index, valid_count, reduction,
                                                                grad_scale, scale);
  return cudaGetLastError();
}

int cross_entropy_total_cuda(const float* loss, std::int64_t rows, const float* factor, float* total,
                             CUstream_st* stream) {
  total_kernel<<<1, kMostThreads, 0, stream>>>(loss, rows, factor, total);
  return cudaGetLastError();
}

int scale_gradient_cuda(const ScaleGradientArgs& args, CUstream_st* stream) {
  if (args.rows == 0 || args.width == 0) return cudaSuccess;
  constexpr int kBlocksAProcessor = 8;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(args.rows, kBlocksAProcessor * multiprocessors()));
  return with_storage(args.storage, [&](auto type) -> int {
    scale_gradient_kernel<decltype(type)><<<blocks, kScaleThreads, 0, stream>>>(args);
    return cudaGetLastError();
  });
}

}  // namespace headroom::kernels
