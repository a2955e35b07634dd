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
#include <map>
#include <mutex>
#include <tuple>

#include <cooperative_groups.h>

#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/cross_entropy/softmax.cuh"
#include "kernels/storage.cuh"

namespace headroom::kernels {

namespace {

namespace cg = cooperative_groups;

constexpr int kMostThreads = 1024;
constexpr int kScaleThreads = 256;
constexpr int kMostBlocksARow = 8;  // the largest cluster that every chip with clusters takes

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
__device__ void put_vector(T* place, const RowVector<T>& vector, bool aligned) {
  if (aligned) {
    vector.store_streaming(place);
    return;
  }
  float x[RowVector<T>::kWidth];
  vector.unpack(x);
#pragma unroll
  for (int j = 0; j < RowVector<T>::kWidth; ++j) store(place[j], x[j]);
}

template <typename T>
__device__ bool same_alignment(const T* a, const T* b) {
  return reinterpret_cast<std::uintptr_t>(a) % kVectorBytes == reinterpret_cast<std::uintptr_t>(b) % kVectorBytes;
}

template <typename T, int kCount>
__device__ __forceinline__ void keep_packed(RowVector<T> (&vectors)[kCount]) {
#pragma unroll
  for (RowVector<T>& vector : vectors) vector.keep_packed();
}

// One block holds a row in registers: `kHeld` vectors a thread, and a single element in the first threads. Places behind
// the row's end hold −∞.
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
  __syncthreads();  // the row's part is there, and all logits were read before the first is overwritten
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

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// A row's stretch on its way from memory to shared memory, by the copy engine; threads wait for all its bytes.
struct Arrival {
  std::uint64_t barrier;

  static __device__ unsigned shared_address(const void* place) {
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
  }
  __device__ void prepare() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
  }
  // By one thread; `bytes` a multiple of 16, both places too.
  __device__ void begin(void* to, const void* from, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
                 : "memory");
    if (bytes == 0) return;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(&barrier))
        : "memory");
  }
  __device__ void wait(unsigned round) {
    asm volatile(
        "{\n .reg .pred done;\n AGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @!done bra AGAIN;\n}"
        ::"r"(shared_address(&barrier)),
        "r"(round % 2)
        : "memory");
  }
};

#endif

constexpr int kSpreadThreads = 512;
constexpr int kMostStages = 4;

// The blocks of a cluster share a row, each a stretch of it in shared memory, and take row after row: while one is worked
// on, the next ones arrive. `stretch`: vectors of a block, `stages` of which it has room for.
template <typename T>
__global__ void __launch_bounds__(kSpreadThreads) spread_kernel(const CrossEntropyArgs args, int stretch, int stages) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using Cluster = cg::cluster_group;
  extern __shared__ uint4 room[];
  __shared__ SoftmaxPart warp_parts[kSpreadThreads / kWarp];
  __shared__ SoftmaxPart block_parts[2][kMostBlocksARow];  // of this row and the next: a block may be one row ahead
  __shared__ Arrival arrivals[kMostStages];
  const int blocks = static_cast<int>(Cluster::num_blocks()), rank = static_cast<int>(Cluster::block_rank());
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = blockIdx.x / blocks, step = gridDim.x / blocks;
  const auto row_at = [&](std::int64_t row) { return static_cast<const T*>(args.logits) + row * args.stride; };
  const auto my_vectors = [&](const RowPlan& plan) {
    const std::int64_t left = plan.vectors - std::int64_t{rank} * stretch;
    return static_cast<int>(left < 0 ? 0 : left < stretch ? left : stretch);
  };
  const auto request = [&](std::int64_t row, int stage) {
    const RowPlan plan = plan_row(row_at(row), args.vocab);
    arrivals[stage].begin(room + stage * stretch,
                          row_at(row) + plan.head + std::int64_t{rank} * stretch * RowVector<T>::kWidth,
                          static_cast<unsigned>(my_vectors(plan) * kVectorBytes));
  };
  if (thread == 0) {
    for (int stage = 0; stage < stages; ++stage) arrivals[stage].prepare();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int stage = 0; stage < stages; ++stage) {
      if (first_row + stage * step < args.rows) request(first_row + stage * step, stage);
    }
  }
  Cluster::sync();  // barriers are prepared, and all blocks run: their shared memory may be written
  const bool smooths = args.label_smoothing != 0;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  int stage = 0;
  unsigned round = 0;
  unsigned turn = 0;
  for (std::int64_t row = first_row; row < args.rows; row += step, turn ^= 1u) {
    const T* const in = row_at(row);
    const RowPlan plan = plan_row(in, args.vocab);
    const int vectors = my_vectors(plan);
    const uint4* const mine = room + stage * stretch;
    const std::int64_t target = args.targets[row];
    const bool has_single = rank == 0 && thread < plan.head + plan.tail;
    const std::int64_t single_column = plan.single_column(thread);
    const float single = has_single ? load(in[single_column]) : -INFINITY;
    arrivals[stage].wait(round);
    if (row_counts<T>(args, row, target, rank == 0)) {
      const float target_logit = rank == 0 && thread == 0 ? load(in[target]) : 0.0f;
      RunningMax<T> max;
      for (int i = thread; i < vectors; i += kSpreadThreads) max.add(RowVector<T>::load(mine + i));
      SoftmaxPart part{.shift = fmaxf(max.value(), single) * Exponent<T>::kScale};
      const float shift = safe(part.shift);
      part.sum = Exponent<T>::power_of(single, shift);
      for (int i = thread; i < vectors; i += kSpreadThreads) {
        part.sum += sum_of_powers(RowVector<T>::load(mine + i), shift);
      }
      if (smooths) {
        part.total = has_single ? single : 0.0f;
        for (int i = thread; i < vectors; i += kSpreadThreads) part.total += sum_of(RowVector<T>::load(mine + i));
      }
      const SoftmaxPart block = block_merged<T>(part, warp_parts, smooths);
      SoftmaxPart* const parts = block_parts[turn];
      if (thread < blocks) Cluster::map_shared_rank(parts, thread)[rank] = block;
      Cluster::barrier_arrive();
      Cluster::barrier_wait();
      SoftmaxPart whole = parts[0];
      for (int i = 1; i < blocks; ++i) whole = merged<T>(whole, parts[i]);
      if (rank == 0 && thread == 0) {
        args.loss[row] = row_loss<T>(whole, target_logit, args.label_smoothing, args.vocab);
      }
      if (args.dlogits != nullptr) {
        const RowGradient gradient = row_gradient(whole, scale, args.label_smoothing, args.vocab);
        T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
        const bool aligned_alike = same_alignment<T>(in, out);
        const std::int64_t first = plan.head + std::int64_t{rank} * stretch * RowVector<T>::kWidth;
        const int target_here = target - first < 0 || target - first > (1 << 30) ? -1 : static_cast<int>(target - first);
        for (int i = thread; i < vectors; i += kSpreadThreads) {
          RowVector<T> value = RowVector<T>::load(mine + i);
          to_gradient(gradient, value, target_here - i * RowVector<T>::kWidth);
          put_vector(out + first + std::int64_t{i} * RowVector<T>::kWidth, value, aligned_alike);
        }
        if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
      }
    } else {
      zero_row<T>(args, row, std::int64_t{rank} * kSpreadThreads + thread, std::int64_t{blocks} * kSpreadThreads);
    }
    __syncthreads();  // the stage and the warps' parts are free again
    if (thread == 0 && row + stages * step < args.rows) request(row + stages * step, stage);
    if (++stage == stages) {
      stage = 0;
      ++round;
    }
  }
  Cluster::sync();  // nobody leaves while another may still write to its shared memory
#endif
}

// One block a row at a time. Vectors are read four in flight.
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
    __syncthreads();  // the row's part is there, and all logits were read before the first is overwritten
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

// One block a row. From little to much a thread: 4 vectors keep enough loads in flight.
template <typename T>
int launch_held(const CrossEntropyArgs& args, CUstream_st* stream) {
  const std::int64_t vectors = args.vocab / RowVector<T>::kWidth;
  if (vectors <= 64) return launch_held<T, 1>(args, 64, stream);
  if (vectors <= 256) return launch_held<T, 1>(args, 256, stream);
  if (vectors <= 512) return launch_held<T, 2>(args, 256, stream);
  if (vectors <= 1024) return launch_held<T, 4>(args, 256, stream);
  if (vectors <= 2048) return launch_held<T, 4>(args, 512, stream);
  return launch_held<T, 8>(args, vectors <= 4096 ? 512 : 1024, stream);
}
constexpr std::int64_t kMostHeldBytes = 8 * 1024 * kVectorBytes;

// How a row is spread over a cluster: blocks, and each one's vectors and stages; blocks 0: too long for a cluster.
struct Spread {
  int blocks, stretch, stages;
};

Spread spread(std::int64_t vectors) {
  #ifndef SPREAD_WANTED
#define SPREAD_WANTED 32
#endif
  constexpr std::int64_t kWantedBytes = SPREAD_WANTED << 10, kProcessorBytes = 216 << 10, kMostBytes = 200 << 10;
  int blocks = 1;
  while (blocks < kMostBlocksARow && vectors * kVectorBytes > blocks * kWantedBytes) blocks *= 2;
  const std::int64_t stretch = (vectors + blocks - 1) / blocks, bytes = stretch * kVectorBytes;
  if (bytes > kMostBytes) return {};
#ifndef SPREAD_BLOCKS
#define SPREAD_BLOCKS 3
#endif
  const std::int64_t stages = kProcessorBytes / SPREAD_BLOCKS / bytes;
  return {blocks, static_cast<int>(stretch),
          static_cast<int>(stages < 1 ? 1 : stages > kMostStages ? kMostStages : stages)};
}

// Clusters that run at once; more would wait for the first to have taken all its rows. Asked for once a configuration.
cudaError_t clusters_at_once(const void* kernel, const cudaLaunchConfig_t& config, int& clusters) {
  using Key = std::tuple<int, const void*, unsigned, std::size_t>;
  static std::mutex mutex;
  static std::map<Key, int> known;
  int device = 0;
  cudaGetDevice(&device);
  const std::lock_guard lock(mutex);
  int& count = known[Key{device, kernel, config.gridDim.x, config.dynamicSmemBytes}];
  if (count == 0) {
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&count, kernel, &config);
    if (error != cudaSuccess) return error;
    count = std::max(count, 1);
  }
  clusters = count;
  return cudaSuccess;
}

template <typename T>
int launch_spread(const CrossEntropyArgs& args, const Spread& way, CUstream_st* stream) {
  const auto kernel = spread_kernel<T>;
  const int bytes = way.stretch * way.stages * kVectorBytes;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(way.blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(way.blocks));
  config.blockDim = dim3(kSpreadThreads);
  config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = 0;
  error = clusters_at_once(reinterpret_cast<const void*>(kernel), config, clusters);
  if (error != cudaSuccess) return error;
  const std::int64_t taken = std::min<std::int64_t>(args.rows, clusters);
  config.gridDim = dim3(static_cast<unsigned>(taken * way.blocks));
  return cudaLaunchKernelEx(&config, kernel, args, way.stretch, way.stages);
}

bool has_clusters() {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  return major >= 9;
}

template <typename T>
int launch(const CrossEntropyArgs& args, CUstream_st* stream, CrossEntropyVariant variant) {
  constexpr std::int64_t kMostBlocks = 2'147'483'647, kHeldBytesBesideClusters = 16 << 10;
  const bool clusters = has_clusters();
  const std::int64_t vectors = args.vocab / RowVector<T>::kWidth, bytes = vectors * kVectorBytes;
  const bool held = bytes <= (clusters ? kHeldBytesBesideClusters : kMostHeldBytes) && args.rows <= kMostBlocks;
  if (variant != CrossEntropyVariant::kTwoReads) {
    if (held) return launch_held<T>(args, stream);
    const Spread way = spread(vectors);
    if (clusters && way.blocks > 0) return launch_spread<T>(args, way, stream);
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
