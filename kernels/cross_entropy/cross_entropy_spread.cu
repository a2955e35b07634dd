// Computes    as cross_entropy.cu, for rows longer than a block holds
// Shapes      as cross_entropy.cu
// Precision   as cross_entropy.cu; powers of bf16 logits are fp16 (see Kept)
// Memory      reads and writes each logit once
// Variants    one: up to 8 blocks per row; the copy engine loads each block's stretch into shared memory; the blocks
//             exchange partial sums in messages
// Source      Milakov, Gimelshein 2018, arXiv:1805.02867 (softmax in parts)
// Checked by  tests/kernels/loss/cross_entropy_cases.cpp
#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include <cooperative_groups.h>

#include "kernels/common/storage.cuh"
#include "kernels/cross_entropy/rows.cuh"
#include "kernels/cross_entropy/softmax.cuh"
#include "kernels/cross_entropy/spread.h"

namespace headroom::kernels {

namespace {

namespace cg = cooperative_groups;

constexpr int kMostBlocksARow = 8;  // the largest cluster that is always supported

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// A barrier in shared memory for bulk copies and messages.
struct Arrival {
  std::uint64_t barrier;

  static __device__ unsigned shared_address(const void* place) {
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
  }
  __device__ void prepare() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
  }
  // Starts a copy to shared memory, which arrives at the barrier when complete. Addresses and `bytes` are multiples of
  // 16.
  __device__ void begin(void* to, const void* from, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
                 : "memory");
    if (bytes == 0) return;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(&barrier))
                 : "memory");
  }
  // Announces bytes that other blocks will send.
  __device__ void expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
                 : "memory");
  }
  // Writes 16 bytes to the same place in another block of the cluster, and arrives at that block's barrier. Unlike a
  // cluster barrier, it waits for no earlier stores.
  __device__ void send(const void* place, const float4& value, unsigned rank) {
    unsigned remote_place = 0, remote_barrier = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote_place) : "r"(shared_address(place)), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(remote_barrier)
                 : "r"(shared_address(&barrier)), "r"(rank));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     remote_place),
                 "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(remote_barrier)
                 : "memory");
  }
  // Waits for all arrivals of a turn; turns alternate between 0 and 1.
  __device__ void wait(unsigned turn) {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(shared_address(&barrier)), "r"(turn)
          : "memory");
    }
  }
};

// Powers e^x of the logits, kept for the gradient, so exp is computed once. Powers of bf16 logits are kept in fp16,
// times 2^15: those above 2e-9 of the thread's largest have 11 bits, the gradient only 8. fp16 logits are kept
// themselves, since their powers would be rounded to 11 bits twice.
template <typename T>
struct Kept {
  static constexpr float kRaise = 0;
  static constexpr bool kChanges = true;
  static __device__ __forceinline__ float sum(RowVector<T>& vector, float shift) {
    float x[RowVector<T>::kWidth];
    vector.unpack(x);
    float sum = 0;
#pragma unroll
    for (float& element : x) sum += element = Exponent<T>::power_of(element, shift);
    vector.pack(x);
    return sum;
  }
  // `thread` is the shift of the thread's powers.
  static __device__ __forceinline__ float factor(const RowGradient& row, float thread) {
    return row.factor * Exponent<T>::power(thread - row.shift);
  }
  static __device__ __forceinline__ void gradient(const RowGradient& row, float factor, RowVector<T>& vector,
                                                  int target) {
    float x[RowVector<T>::kWidth];
    vector.unpack(x);
    finish(row, factor, x, target);
    vector.pack(x);
  }
  template <int kWidth>
  static __device__ __forceinline__ void finish(const RowGradient& row, float factor, float (&x)[kWidth], int target) {
#pragma unroll
    for (float& element : x) element = fmaf(element, factor, -row.everywhere);
    if (target < 0 || target >= kWidth) return;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x[j] -= j == target ? row.at_target : 0.0f;
  }
};

template <>
struct Kept<Bf16> : Kept<float> {
  static constexpr float kRaise = 15;
  static __device__ __forceinline__ float sum(RowVector<Bf16>& vector, float shift) {
    float x[RowVector<Bf16>::kWidth];
    vector.unpack(x);
    float sum = 0;
#pragma unroll
    for (float& element : x) sum += element = Exponent<Bf16>::power_of(element, shift);
#pragma unroll
    for (int i = 0; i < RowVector<Bf16>::kWords; ++i) vector.word[i] = Word<Fp16>::pack(x + 2 * i);
    return sum;
  }
  static __device__ __forceinline__ float factor(const RowGradient& row, float thread) {
    return row.factor * Exponent<Bf16>::power(thread - row.shift);
  }
  static __device__ __forceinline__ void gradient(const RowGradient& row, float factor, RowVector<Bf16>& vector,
                                                  int target) {
    float x[RowVector<Bf16>::kWidth];
#pragma unroll
    for (int i = 0; i < RowVector<Bf16>::kWords; ++i) Word<Fp16>::unpack(vector.word[i], x + 2 * i);
    finish(row, factor, x, target);
    vector.pack(x);
  }
};

template <>
struct Kept<Fp16> {
  static constexpr float kRaise = 0;
  static constexpr bool kChanges = false;
  static __device__ __forceinline__ float sum(RowVector<Fp16>& vector, float shift) {
    return sum_of_powers(vector, shift);
  }
  static __device__ __forceinline__ float factor(const RowGradient& row, float) { return row.factor; }
  static __device__ __forceinline__ void gradient(const RowGradient& row, float, RowVector<Fp16>& vector, int target) {
    to_gradient(row, vector, target);
  }
};

#endif

constexpr int kSpreadThreads = 256;
constexpr int kSpreadBlocks = 3;  // per multiprocessor

// The blocks of a cluster share one row after another; each block has up to `stretch` of the row's vectors in shared
// memory. Three blocks per multiprocessor overlap one row's arrival with the arithmetic and stores of other rows.
// (Requesting parts of the next row earlier reaches 75 % of a copy's speed instead of 84 %.) The blocks exchange one
// message per warp.
template <typename T>
__global__ void __launch_bounds__(kSpreadThreads, kSpreadBlocks)
    spread_kernel(const CrossEntropyArgs args, int stretch) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using Cluster = cg::cluster_group;
  constexpr int kWarps = kSpreadThreads / kWarp;
  extern __shared__ uint4 room[];
  // Messages of this row and the next, since a block may be one row ahead.
  __shared__ float4 messages[2][kMostBlocksARow * kWarps];
  __shared__ Arrival message_arrivals[2];
  __shared__ Arrival arrival;
  const int blocks = static_cast<int>(Cluster::num_blocks()), rank = static_cast<int>(Cluster::block_rank());
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const std::int64_t step = gridDim.x / blocks;
  const auto row_at = [&](std::int64_t row) { return static_cast<const T*>(args.logits) + row * args.stride; };
  const int before_mine = rank * stretch;  // vectors of the lower ranks
  const auto my_vectors = [&](const RowPlan& plan) {
    return max(0, min(stretch, static_cast<int>(plan.vectors) - before_mine));
  };
  const auto request = [&](std::int64_t row) {
    const RowPlan plan = plan_row(row_at(row), args.vocab);
    arrival.begin(room, row_at(row) + plan.head + std::int64_t{before_mine} * RowVector<T>::kWidth,
                  static_cast<unsigned>(my_vectors(plan) * kVectorBytes));
  };
  const auto write_back = [&](T* to, int vectors) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // makes this thread's stores visible to the engine
    __syncthreads();
    if (thread != 0 || vectors == 0) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(Arrival::shared_address(room)), "r"(vectors * kVectorBytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");  // now the room may be refilled
  };
  std::int64_t row = blockIdx.x / blocks;
  if (thread == 0) {
    arrival.prepare();
    message_arrivals[0].prepare();
    message_arrivals[1].prepare();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (row < args.rows) request(row);
  }
  Cluster::sync();  // all blocks run, and their barriers are ready
  const bool smooths = args.label_smoothing != 0;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  std::int64_t next_target = row < args.rows ? args.targets[row] : 0;
  unsigned turn = 0, exchanges = 0;
  for (; row < args.rows; row += step, turn ^= 1u) {
    const T* const in = row_at(row);
    const RowPlan plan = plan_row(in, args.vocab);
    const int vectors = my_vectors(plan);
    const int first = static_cast<int>(plan.head) + before_mine * RowVector<T>::kWidth;
    const std::int64_t target = next_target;
    if (row + step < args.rows) next_target = args.targets[row + step];
    const bool has_single = rank == 0 && thread < static_cast<int>(plan.head + plan.tail);
    const int single_column = static_cast<int>(plan.single_column(thread));
    const float single = has_single ? load(in[single_column]) : -INFINITY;
    const bool counts = row_counts<T>(args, row, target, rank == 0);
    // The messages carry this logit, so it is read before any block overwrites it.
    const float target_logit = counts && rank == 0 && warp == 0 ? load(in[target]) : 0.0f;
    arrival.wait(turn);
    if (counts) {
      const unsigned parity = exchanges / 2 % 2, slot = exchanges % 2;
      ++exchanges;
      if (thread == 0 && blocks > 1) {
        message_arrivals[slot].expect(static_cast<unsigned>(blocks * kWarps * sizeof(float4)));
      }
      RunningMax<T> most;
#pragma unroll 4
      for (int i = thread; i < vectors; i += kSpreadThreads) most.add(RowVector<T>::load(room + i));
      SoftmaxPart part;
      part.shift = fmaxf(most.value(), single) * Exponent<T>::kScale - Kept<T>::kRaise;
      const float shift = safe(part.shift);
      if (smooths) {
        part.total = has_single ? single : 0.0f;
        for (int i = thread; i < vectors; i += kSpreadThreads) part.total += sum_of(RowVector<T>::load(room + i));
      }
      part.sum = Exponent<T>::power_of(single, shift);
#pragma unroll 2
      for (int i = thread; i < vectors; i += kSpreadThreads) {
        RowVector<T> value = RowVector<T>::load(room + i);
        part.sum += Kept<T>::sum(value, shift);
        if (Kept<T>::kChanges) value.store(room + i);
      }
      const SoftmaxPart of_warp = warp_merged<T>(part, smooths);
      const float4 message = make_float4(of_warp.shift, of_warp.sum, of_warp.total, target_logit);
      if (blocks == 1) {
        if (lane == 0) messages[slot][warp] = message;
        __syncthreads();
      } else {
        if (lane < blocks) {
          message_arrivals[slot].send(&messages[slot][rank * kWarps + warp], message, static_cast<unsigned>(lane));
        }
        message_arrivals[slot].wait(parity);
      }
      SoftmaxPart some;
      for (int i = lane; i < blocks * kWarps; i += kWarp) {
        const float4 other = messages[slot][i];
        some = merged<T>(some, {.shift = other.x, .sum = other.y, .total = other.z});
      }
      const SoftmaxPart whole = warp_merged<T>(some, smooths);
      if (rank == 0 && thread == 0) {
        args.loss[row] = row_loss<T>(whole, target_logit, args.label_smoothing, args.vocab);
      }
      if (args.dlogits != nullptr) {
        const RowGradient gradient = row_gradient(whole, scale, args.label_smoothing, args.vocab);
        const float factor = Kept<T>::factor(gradient, shift);
        T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
        const bool aligned_alike = same_alignment<T>(in, out);
        const int target_here = static_cast<int>(target) - first;
#pragma unroll 2
        for (int i = thread; i < vectors; i += kSpreadThreads) {
          RowVector<T> value = RowVector<T>::load(room + i);
          Kept<T>::gradient(gradient, factor, value, target_here - i * RowVector<T>::kWidth);
          if (aligned_alike) {
            value.store(room + i);
          } else {
            put_vector(out + first + i * RowVector<T>::kWidth, value, false);
          }
        }
        if (aligned_alike) write_back(out + first, vectors);
        if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
      }
    } else {
      zero_row<T>(args, row, std::int64_t{rank} * kSpreadThreads + thread, std::int64_t{blocks} * kSpreadThreads);
    }
    __syncthreads();  // the stretch's room is free
    if (thread == 0 && row + step < args.rows) {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // orders the copy after the powers stored there
      request(row + step);
    }
  }
  if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // all gradients are written
  Cluster::sync();  // other blocks may still write to this block's shared memory
#endif
}

// How a cluster splits a row: blocks, and vectors per block. 0 blocks: the row is too long.
struct Spread {
  int blocks, stretch;
};

Spread spread(std::int64_t vectors) {
  constexpr std::int64_t kWanted = (64 << 10) / kVectorBytes;  // a third of a Hopper multiprocessor's shared memory
  constexpr int kMessagesBytes = 4 << 10;
  int device = 0, most = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  const std::int64_t blocks = std::clamp<std::int64_t>((vectors + kWanted - 1) / kWanted, 1, kMostBlocksARow);
  const std::int64_t stretch = (vectors + blocks - 1) / blocks;
  if (stretch * kVectorBytes > most - kMessagesBytes) return {};
  return {static_cast<int>(blocks), static_cast<int>(stretch)};
}

// Number of clusters that run at once; more would wait.
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
  const int bytes = way.stretch * kVectorBytes;
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
  return cudaLaunchKernelEx(&config, kernel, args, way.stretch);
}

bool has_clusters() {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  return major >= 9;
}

std::int64_t vectors_of(const CrossEntropyArgs& args) { return args.vocab * bytes_of(args.storage) / kVectorBytes; }

}  // namespace

bool spread_takes(const CrossEntropyArgs& args) { return has_clusters() && spread(vectors_of(args)).blocks > 0; }

int cross_entropy_spread_cuda(const CrossEntropyArgs& args, CUstream_st* stream) {
  return with_storage(args.storage,
                      [&](auto type) { return launch_spread<decltype(type)>(args, spread(vectors_of(args)), stream); });
}

}  // namespace headroom::kernels
