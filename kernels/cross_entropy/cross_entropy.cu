// Computes    loss_i = log Σ_j exp(x_ij) − x_it, t = target of row i;  dx_ij = s (exp(x_ij) / Σ − [j = t]), over x if asked
// Shapes      x, dx [N, V] with rows `stride` apart; targets, loss [N]
// Precision   storage fp32, bf16 or fp16; all arithmetic, sums and the loss in fp32
// Memory      allocates nothing; moves 2·N·V·s bytes with the gradient, N·V·s without, s = bytes an element
// Variants    one read: the row stays in the registers of up to 8 blocks, which exchange maximum and sum through
//             distributed shared memory (Hopper and later), or of one block (any chip, V up to 65536 in 16 bits);
//             two reads: as many rows in flight as multiprocessors, so that the second read finds the row in the L2
// Source      Milakov, Gimelshein 2018, arXiv:1805.02867 (the running maximum); label smoothing: Szegedy et al. 2016,
//             arXiv:1512.00567, section 7
// Checked by  tests/kernels/cross_entropy_gpu_test.cpp
#include <algorithm>
#include <cstdint>

#include <cooperative_groups.h>

#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/cross_entropy/softmax.cuh"
#include "kernels/storage.cuh"

namespace headroom::kernels {

namespace {

namespace cg = cooperative_groups;

constexpr int kMostThreads = 1024;
constexpr int kMostBlocksARow = 8;  // the largest cluster that every chip with clusters takes

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define HEADROOM_CLUSTERS 1
#else
#define HEADROOM_CLUSTERS 0
#endif

// The blocks that share a row. Without clusters there is one.
struct RowBlocks {
#if HEADROOM_CLUSTERS
  static __device__ unsigned count() { return cg::cluster_group::num_blocks(); }
  static __device__ unsigned rank() { return cg::cluster_group::block_rank(); }
  static __device__ void arrive() { cg::cluster_group::barrier_arrive(); }
  static __device__ void wait() { cg::cluster_group::barrier_wait(); }
#else
  static __device__ unsigned count() { return 1; }
  static __device__ unsigned rank() { return 0; }
  static __device__ void arrive() {}
  static __device__ void wait() { __syncthreads(); }
#endif
};

// Warp 0 of each block gives its part to all blocks of the row; then everybody has them all, in the same order.
template <typename T>
__device__ SoftmaxPart row_merged(const SoftmaxPart& block, SoftmaxPart* parts) {
  const unsigned blocks = RowBlocks::count();
  RowBlocks::wait();  // all blocks of the row run: their shared memory may be written
  if (threadIdx.x < blocks) {
#if HEADROOM_CLUSTERS
    cg::cluster_group::map_shared_rank(parts, threadIdx.x)[RowBlocks::rank()] = block;
#else
    parts[0] = block;
#endif
  }
  RowBlocks::arrive();
  RowBlocks::wait();
  SoftmaxPart row = parts[0];
  for (unsigned i = 1; i < blocks; ++i) row = merged<T>(row, parts[i]);
  return row;
}

// True for a row to be computed. Else its loss and its gradient are written: ignored, or a target outside the vocabulary.
template <typename T>
__device__ bool row_counts(const CrossEntropyArgs& args, std::int64_t row, std::int64_t target, bool writes_loss) {
  const bool ignored = target == args.ignore_index;
  if (!ignored && target >= 0 && target < args.vocab) return true;
  if (writes_loss && threadIdx.x == 0) {
    args.loss[row] = ignored ? 0.0f : NAN;
    if (!ignored && args.error_flag != nullptr) {
      atomicMax(reinterpret_cast<long long*>(args.error_flag), static_cast<long long>(row + 1));
    }
  }
  return false;
}

template <typename T>
__device__ void zero_row(const CrossEntropyArgs& args, std::int64_t row, std::int64_t part, std::int64_t parts) {
  if (args.dlogits == nullptr) return;
  T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
  const RowPlan plan = plan_row(out, args.vocab);
  Vector<T> zeros;
#pragma unroll
  for (int j = 0; j < Vector<T>::kWidth; ++j) store(zeros.element[j], 0.0f);
  for (std::int64_t i = part; i < plan.vectors; i += parts) {
    store_streaming(reinterpret_cast<Vector<T>*>(out + plan.head) + i, zeros);
  }
  if (part < plan.head + plan.tail) store(out[plan.single_column(part)], 0.0f);
}

// `aligned`: the gradient's row starts as the logits' does. Where not (a view), elements go one by one.
template <typename T>
__device__ void put_vector(T* place, const Vector<T>& value, bool aligned) {
  if (aligned) {
    store_streaming(reinterpret_cast<Vector<T>*>(place), value);
    return;
  }
#pragma unroll
  for (int j = 0; j < Vector<T>::kWidth; ++j) place[j] = value.element[j];
}

template <typename T>
__device__ bool same_alignment(const T* a, const T* b) {
  return reinterpret_cast<std::uintptr_t>(a) % kVectorBytes == reinterpret_cast<std::uintptr_t>(b) % kVectorBytes;
}

// Makes the compiler unpack 16-bit elements anew in each phase: their fp32 values would take twice the registers.
template <typename T, int kCount>
__device__ __forceinline__ void keep_packed(Vector<T> (&vectors)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    auto* const words = reinterpret_cast<int4*>(&vectors[k]);
    asm volatile("" : "+r"(words->x), "+r"(words->y), "+r"(words->z), "+r"(words->w));
  }
}

// A row is held by all threads of its blocks: `kHeld` vectors each, and a single element in the first threads.
template <typename T, int kHeld>
__global__ void __launch_bounds__(kMostThreads, kHeld <= 4 ? 2 : 1) one_read_kernel(const CrossEntropyArgs args) {
  __shared__ SoftmaxPart warp_parts[kMostThreads / kWarp];
  __shared__ SoftmaxPart block_parts[kMostBlocksARow];
  const unsigned blocks = RowBlocks::count(), rank = RowBlocks::rank();
  const std::int64_t row = blockIdx.x / blocks;
  const int threads = static_cast<int>(blocks * blockDim.x);
  const int thread = static_cast<int>(rank * blockDim.x + threadIdx.x);
  const std::int64_t target = args.targets[row];
  if (!row_counts<T>(args, row, target, rank == 0)) {
    zero_row<T>(args, row, thread, threads);
    return;
  }
  RowBlocks::arrive();
  const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
  const RowPlan plan = plan_row(in, args.vocab);
  const int vectors = static_cast<int>(plan.vectors);  // at most 65536
  const auto* const in_vectors = reinterpret_cast<const Vector<T>*>(in + plan.head);
  Vector<T> held[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = k * threads + thread;
    if (i < vectors) held[k] = load_streaming(in_vectors + i);
  }
  const bool has_single = thread < plan.head + plan.tail;
  const std::int64_t single_column = plan.single_column(thread);
  const float single = has_single ? load(in[single_column]) : -INFINITY;
  const float target_logit = thread == 0 ? load(in[target]) : 0.0f;

  SoftmaxPart part;
  part.max = single;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    if (k * threads + thread >= vectors) continue;
#pragma unroll
    for (int j = 0; j < Vector<T>::kWidth; ++j) part.max = fmaxf(part.max, load(held[k].element[j]));
  }
  keep_packed(held);
  const float shift = safe_shift(part.max);
  if (has_single) {
    part.sum = exponential<T>(single - shift);
    part.total = single;
  }
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    if (k * threads + thread >= vectors) continue;
#pragma unroll
    for (int j = 0; j < Vector<T>::kWidth; ++j) {
      const float x = load(held[k].element[j]);
      part.sum += exponential<T>(x - shift);
      part.total += x;
    }
  }
  keep_packed(held);
  const SoftmaxPart whole = row_merged<T>(block_merged<T>(part, warp_parts), block_parts);

  if (thread == 0) args.loss[row] = row_loss(whole, target_logit, args.label_smoothing, args.vocab);
  if (args.dlogits == nullptr) return;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  const RowGradient gradient = row_gradient(whole.max, whole.sum, scale, args.label_smoothing, args.vocab);
  T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
  const bool aligned_alike = same_alignment<T>(in, out);
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = k * threads + thread;
    if (i >= vectors) continue;
    const std::int64_t first = plan.head + std::int64_t{i} * Vector<T>::kWidth;
    to_gradient(gradient, held[k].element, target - first);
    put_vector(out + first, held[k], aligned_alike);
  }
  if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
}

// One block a row at a time. Vectors are read four in flight.
template <typename T>
__global__ void __launch_bounds__(kMostThreads) two_reads_kernel(const CrossEntropyArgs args) {
  __shared__ SoftmaxPart warp_parts[kMostThreads / kWarp];
  __shared__ SoftmaxPart row_part;
  constexpr int kInFlight = 4;
  const std::int64_t thread = threadIdx.x, threads = blockDim.x;
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const std::int64_t target = args.targets[row];
    if (!row_counts<T>(args, row, target, true)) {
      zero_row<T>(args, row, thread, threads);
      continue;
    }
    const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
    const RowPlan plan = plan_row(in, args.vocab);
    const auto* const vectors = reinterpret_cast<const Vector<T>*>(in + plan.head);
    const bool has_single = thread < plan.head + plan.tail;
    const std::int64_t single_column = plan.single_column(thread);
    const float single = has_single ? load(in[single_column]) : -INFINITY;
    const float target_logit = thread == 0 ? load(in[target]) : 0.0f;
    SoftmaxPart part;
    if (has_single) part = {.max = single, .sum = exponential<T>(single - safe_shift(single)), .total = single};
    for (std::int64_t first = thread; first < plan.vectors; first += kInFlight * threads) {
      Vector<T> read[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (first + k * threads < plan.vectors) read[k] = vectors[first + k * threads];
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (first + k * threads < plan.vectors) add_to_part(part, read[k].element);
      }
    }
    const SoftmaxPart block = block_merged<T>(part, warp_parts);
    if (thread == 0) {
      row_part = block;
      args.loss[row] = row_loss(block, target_logit, args.label_smoothing, args.vocab);
    }
    __syncthreads();  // the row's part is there, and all logits were read before the first is overwritten
    if (args.dlogits == nullptr) continue;
    const float scale = args.scale == nullptr ? 1.0f : *args.scale;
    const RowGradient gradient = row_gradient(row_part.max, row_part.sum, scale, args.label_smoothing, args.vocab);
    T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
    const bool aligned_alike = same_alignment<T>(in, out);
#pragma unroll kInFlight
    for (std::int64_t i = thread; i < plan.vectors; i += threads) {
      Vector<T> value = load_streaming(vectors + i);
      const std::int64_t column = plan.head + i * Vector<T>::kWidth;
      to_gradient(gradient, value.element, target - column);
      put_vector(out + column, value, aligned_alike);
    }
    if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
    __syncthreads();  // the shared parts are free again
  }
}

// Rows that are not ignored; one block, the same sum in all threads.
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
__global__ void __launch_bounds__(256)
    scale_gradient_kernel(T* gradient, std::int64_t rows, std::int64_t width, const float* upstream, bool upstream_per_row,
                          const float* made_for) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float factor = upstream[upstream_per_row ? row : 0] / (made_for == nullptr ? 1.0f : *made_for);
    if (factor == 1.0f) continue;
    T* const out = gradient + row * width;
    const RowPlan plan = plan_row(out, width);
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

// Blocks a row, threads a block and vectors a thread of the one-read kernel; blocks 0: the row is too long.
struct Held {
  unsigned blocks, threads;
  int vectors;
};

Held hold(std::int64_t vectors, bool clusters) {
  // From little to much; 4 vectors a thread keep enough loads in flight, more are for what else would not fit.
  constexpr Held kWays[] = {{1, 64, 1},  {1, 128, 1},  {1, 256, 1},  {1, 256, 2},  {1, 256, 4},   {1, 512, 4},
                            {2, 512, 4}, {4, 512, 4},  {8, 512, 4},  {8, 512, 8},  {8, 1024, 8}};
  constexpr Held kWaysOfOneBlock[] = {{1, 1024, 4}, {1, 1024, 8}};
  const auto fits = [vectors](const Held& way) {
    return std::int64_t{way.blocks} * way.threads * way.vectors >= vectors;
  };
  for (const Held& way : kWays) {
    if (fits(way) && (clusters || way.blocks == 1)) return way;
  }
  for (const Held& way : kWaysOfOneBlock) {
    if (fits(way) && !clusters) return way;
  }
  return {};
}

bool has_clusters() {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  return major >= 9;
}

template <typename T, int kHeld>
int launch_one_read(const CrossEntropyArgs& args, const Held& way, CUstream_st* stream) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {way.blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(args.rows * way.blocks));
  config.blockDim = dim3(way.threads);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = way.blocks > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, one_read_kernel<T, kHeld>, args);
}

template <typename T>
int launch(const CrossEntropyArgs& args, CUstream_st* stream, CrossEntropyVariant variant) {
  // Blocks of the one-read kernel are counted in 31 bits. A row of one element still takes a block of 64 threads.
  constexpr std::int64_t kMostBlocks = 2'147'483'647;
  const Held way = hold(args.vocab / Vector<T>::kWidth, has_clusters());
  const bool one_read = way.blocks > 0 && args.rows * way.blocks <= kMostBlocks;
  if (variant == CrossEntropyVariant::kOneRead && !one_read) return cudaErrorInvalidConfiguration;
  if (variant == CrossEntropyVariant::kTwoReads || !one_read) {
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(args.rows, multiprocessors()));
    two_reads_kernel<T><<<blocks, kMostThreads, 0, stream>>>(args);
    return cudaGetLastError();
  }
  switch (way.vectors) {
    case 1:
      return launch_one_read<T, 1>(args, way, stream);
    case 2:
      return launch_one_read<T, 2>(args, way, stream);
    case 4:
      return launch_one_read<T, 4>(args, way, stream);
    default:
      return launch_one_read<T, 8>(args, way, stream);
  }
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

int scale_gradient_cuda(Storage storage, void* gradient, std::int64_t rows, std::int64_t width, const float* upstream,
                        bool upstream_per_row, const float* made_for, CUstream_st* stream) {
  if (rows == 0 || width == 0) return cudaSuccess;
  constexpr int kThreads = 256, kBlocksAProcessor = 8;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(rows, kBlocksAProcessor * multiprocessors()));
  return with_storage(storage, [&](auto type) -> int {
    using T = decltype(type);
    scale_gradient_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<T*>(gradient), rows, width, upstream,
                                                           upstream_per_row, made_for);
    return cudaGetLastError();
  });
}

}  // namespace headroom::kernels
