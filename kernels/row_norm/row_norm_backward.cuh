// Backward pass of the row norms on a persistent grid. A thread has the same columns in every row, and sums these
// columns' gradients of weight and bias in registers; row_norm_column_sum.cuh adds up the blocks' sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/row_norm/row_norm_column_sum.cuh"
#include "kernels/row_norm/row_norm_parts.cuh"
#include "kernels/row_norm/row_norm_wide.cuh"

namespace headroom::kernels::row_norm {

constexpr int kRowStages = 2;  // rows per group in shared memory: the current and the next; one for the widest rows
// Measured on an H200: up to two vectors per thread of a row and of the weight stay in registers between the passes.
// Four would spill, so more than two are reread from shared memory.
constexpr int kHeldVectors = 2;
// True if the weight is in shared memory. The widest rows leave no room for it.
template <int kVectors, int kThreads>
constexpr bool kSharesWeight = kVectors > kHeldVectors&& kThreads <= kBlockThreads;

__device__ __forceinline__ void copy_async(void* to_shared, const void* from, bool there) {
  // Past the end of the row it writes zeros and reads nothing.
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to_shared))),
      "l"(from), "r"(there ? kVectorBytes : 0)
      : "memory");
}
__device__ __forceinline__ void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kStillUnderWay>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kStillUnderWay) : "memory");
}

// Sums over a group's threads, with the same bits in all of them and in every run. Sums alternate between two buffers,
// so each needs only one barrier.
template <int kSums>
class GroupSum {
 public:
  // Warps of all groups, each group's number of warps rounded up to a multiple of four.
  static constexpr int kRoom = 64;
  struct Memory {
    float4 part[2][kSums][kRoom / 4];
  };

  __device__ explicit GroupSum(Memory& memory) : memory_(memory), fours_((blockDim.x / kWarp + 3) / 4) {
    float* const all = reinterpret_cast<float*>(&memory);
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < 2 * kSums * kRoom; i += blockDim.x * blockDim.y)
      all[i] = 0;
    __syncthreads();
  }

  __device__ void operator()(float (&value)[kSums]) {
#pragma unroll
    for (int s = 0; s < kSums; ++s) value[s] = warp_sum(value[s]);
    if (blockDim.x == kWarp) return;
    const int first = threadIdx.y * fours_;
    if (threadIdx.x % kWarp == 0) {
#pragma unroll
      for (int s = 0; s < kSums; ++s) {
        reinterpret_cast<float*>(memory_.part[turn_][s] + first)[threadIdx.x / kWarp] = value[s];
      }
    }
    group_barrier();
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
      value[s] = 0;
      for (int i = 0; i < fours_; ++i) {
        const float4 four = memory_.part[turn_][s][first + i];
        value[s] += (four.x + four.y) + (four.z + four.w);
      }
    }
    turn_ ^= 1;
  }

 private:
  Memory& memory_;
  const int fours_;
  int turn_ = 0;
};

// Rows on their way into shared memory: kStages rows of kStreams tensors. Each thread fetches just what it reads, so no
// barrier is needed.
template <int kStreams, int kVectors, int kStages>
class Ring {
 public:
  static constexpr int kSlots = kStages * kStreams * kVectors;  // vectors per thread

  __device__ Ring(uint4* memory, const void* const (&tensors)[kStreams], std::int64_t row, std::int64_t step,
                  std::int64_t rows, int row_vectors)
      : threads_(blockDim.x * blockDim.y),
        row_vectors_(row_vectors),
        at_(row * row_vectors),
        step_(step * row_vectors),
        end_(rows * row_vectors) {
    mine_ = memory + threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
    for (int i = 0; i < kStreams; ++i) tensors_[i] = static_cast<const uint4*>(tensors[i]);
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      stage_ = stage;
      fetch();
    }
    stage_ = 0;
  }

  __device__ __forceinline__ void fetch() {
#pragma unroll
    for (int stream = 0; stream < kStreams; ++stream) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int column = v * blockDim.x + threadIdx.x;
        const bool there = at_ < end_ && column < row_vectors_;
        copy_async(place(stream, v), tensors_[stream] + (there ? at_ + column : 0), there);
      }
    }
    at_ += step_;
    end_of_copies();
  }
  __device__ __forceinline__ void wait() { wait_for_copies<kStages - 1>(); }
  __device__ __forceinline__ void next() { stage_ = stage_ + 1 == kStages ? 0 : stage_ + 1; }
  __device__ __forceinline__ uint4* place(int stream, int v) {
    return mine_ + ((stage_ * kStreams + stream) * kVectors + v) * threads_;
  }

 private:
  const uint4* tensors_[kStreams];
  uint4* mine_;
  const int threads_, row_vectors_;
  std::int64_t at_;
  const std::int64_t step_, end_;
  int stage_ = 0;
};

// Computes dx, and this block's partial sums of dweight (and dbias). With g = dy · w and x̂ = (x − mean) · rstd:
// dx = rstd · (g − [LayerNorm: mean(g)] − x̂ · mean(g · x̂)) + d_sum, dweight = Σ dy · x̂ and dbias = Σ dy.
template <typename T, bool kMean, bool kAddSum, int kVectors, int kStages, int kThreads>
__global__ void __launch_bounds__(kThreads, 1) backward_kernel(NormBackward norm) {
  constexpr int kWidth = kElements<T>;
  constexpr int kStreams = kAddSum ? 3 : 2;
  constexpr int kSums = kMean ? 2 : 1;
  constexpr bool kHeld = kVectors <= kHeldVectors;
  constexpr bool kSharedWeight = kSharesWeight<kVectors, kThreads>;
  using Rows = Ring<kStreams, kVectors, kStages>;
  extern __shared__ uint4 shared_memory[];
  __shared__ typename GroupSum<kSums>::Memory sum_memory;
  const int row_vectors = static_cast<int>(norm.width / kWidth);
  const float part_of_mean = 1.0f / static_cast<float>(norm.width);
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.y;
  std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;

  const void* const tensors[3] = {norm.x, norm.dy, norm.d_sum};
  const void* streams[kStreams];
#pragma unroll
  for (int i = 0; i < kStreams; ++i) streams[i] = tensors[i];
  Rows ring(shared_memory, streams, row, step, norm.rows, row_vectors);

  const int threads = blockDim.x * blockDim.y;
  uint4* const shared_weight = shared_memory + Rows::kSlots * threads + threadIdx.y * blockDim.x + threadIdx.x;
  uint4 weight[kVectors];
  float dweight[kVectors][kWidth];
  float dbias[kMean ? kVectors : 1][kWidth];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    weight[v] = column < row_vectors ? static_cast<const uint4*>(norm.weight)[column] : uint4{};
    if constexpr (kSharedWeight) shared_weight[v * threads] = weight[v];
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      dweight[v][e] = 0;
      if constexpr (kMean) dbias[v][e] = 0;
    }
  }

  float rstd = row < norm.rows ? norm.rstd[row] : 0;
  float mean = kMean && row < norm.rows ? norm.mean[row] : 0;
  GroupSum<kSums> group_sum(sum_memory);
  // All groups of a block take the same number of turns, since they share barriers.
  for (; row - threadIdx.y < norm.rows; row += step) {
    const std::int64_t next_row = row + step;
    const float next_rstd = next_row < norm.rows ? norm.rstd[next_row] : 0;
    const float next_mean = kMean && next_row < norm.rows ? norm.mean[next_row] : 0;
    const float shift = -mean * rstd;
    uint4 x[kVectors], dy[kVectors], d_sum[kAddSum ? kVectors : 1];
    const auto take = [&](int v) {
      x[v] = *ring.place(0, v);
      dy[v] = *ring.place(1, v);
      if constexpr (kAddSum) d_sum[v] = *ring.place(2, v);
      if constexpr (kSharedWeight) weight[v] = shared_weight[v * threads];
      if constexpr (!kHeld && !kSharedWeight) {
        const int column = v * blockDim.x + threadIdx.x;
        weight[v] = column < row_vectors ? __ldg(static_cast<const uint4*>(norm.weight) + column) : uint4{};
      }
    };
    ring.wait();
    float sums[kSums] = {};
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      take(v);
      keep_packed(weight[v]);
      const Numbers<T> numbers(x[v]), upstream(dy[v]), weights(weight[v]);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float normal = numbers.at[e] * rstd + shift;
        const float g = upstream.at[e] * weights.at[e];
        dweight[v][e] += upstream.at[e] * normal;
        sums[0] += g * normal;
        if constexpr (kMean) {
          dbias[v][e] += upstream.at[e];
          sums[1] += g;
        }
      }
    }
    group_sum(sums);
    asm volatile("" ::: "memory");  // take() must reread shared memory
    if constexpr (kHeld) ring.fetch();

    const float along = -rstd * sums[0] * part_of_mean;
    const float level = kMean ? -rstd * sums[kSums - 1] * part_of_mean : 0.0f;
    const std::int64_t begin = row * row_vectors;
    const int columns = row < norm.rows ? row_vectors : 0;
    if constexpr (kHeld) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        keep_packed(x[v]);
        keep_packed(dy[v]);
        keep_packed(weight[v]);
      }
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * blockDim.x + threadIdx.x;
      if constexpr (!kHeld) take(v);
      const Numbers<T> numbers(x[v]), upstream(dy[v]), weights(weight[v]);
      Numbers<T> dx;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float normal = numbers.at[e] * rstd + shift;
        const float g = upstream.at[e] * weights.at[e];
        dx.at[e] = g * rstd + (kMean ? normal * along + level : normal * along);
      }
      if constexpr (kAddSum) {
        const Numbers<T> around(d_sum[v]);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) dx.at[e] += around.at[e];
      }
      if (column < columns) static_cast<uint4*>(norm.dx)[begin + column] = dx.packed();
    }
    if constexpr (!kHeld) ring.fetch();
    ring.next();
    rstd = next_rstd;
    mean = next_mean;
  }

  if (kThreads > kBlockThreads || blockDim.y == 1) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * blockDim.x + threadIdx.x;
      if (column >= row_vectors) continue;
      const std::int64_t first = blockIdx.x * norm.width + std::int64_t{column} * kWidth;
#pragma unroll
      for (int e = 0; e < kWidth; e += 4) {
        *reinterpret_cast<float4*>(norm.dweight_partials + first + e) =
            make_float4(dweight[v][e], dweight[v][e + 1], dweight[v][e + 2], dweight[v][e + 3]);
        if constexpr (kMean) {
          *reinterpret_cast<float4*>(norm.dbias_partials + first + e) =
              make_float4(dbias[v][e], dbias[v][e + 1], dbias[v][e + 2], dbias[v][e + 3]);
        }
      }
    }
    return;
  }
  // The groups' sums fit into the ring's memory: per 8 columns, two fp32 sums take as much as kStages · 2 vectors of
  // bf16. Each group adds up four columns at a time.
  float* const shared = reinterpret_cast<float*>(shared_memory);
  const int mine = threadIdx.y * blockDim.x + threadIdx.x;
  constexpr int kColumns = kVectors * kWidth;
  static_assert(kSums * kColumns * sizeof(float) <= Rows::kSlots * kVectorBytes || kThreads > kBlockThreads);
  wait_for_copies<0>();
  __syncthreads();
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    shared[c * threads + mine] = dweight[c / kWidth][c % kWidth];
    if constexpr (kMean) shared[(kColumns + c) * threads + mine] = dbias[c / kWidth][c % kWidth];
  }
  __syncthreads();
  for (int c = 4 * threadIdx.y; c < kSums * kColumns; c += 4 * blockDim.y) {
    float sum[4] = {};
    for (int group = 0; group < blockDim.y; ++group) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += shared[(c + i) * threads + group * blockDim.x + threadIdx.x];
    }
    const int of = c % kColumns;
    const std::int64_t vector = of / kWidth * blockDim.x + threadIdx.x;
    float* const partials = c < kColumns ? norm.dweight_partials : norm.dbias_partials;
    if (vector < row_vectors) {
      *reinterpret_cast<float4*>(partials + blockIdx.x * norm.width + vector * kWidth + of % kWidth) =
          make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
  }
}

// Allows `bytes` of dynamic shared memory per block; false if the device has less.
template <typename Kernel>
bool take_shared(Kernel* kernel, int bytes) {
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess) return true;
  cudaGetLastError();  // clears the error
  return false;
}

// Sets `blocks`; false if the device lacks the shared memory.
template <typename T, bool kMean, bool kAddSum, int kVectors, int kStages = kRowStages, int kThreads = kBlockThreads>
bool launch_backward_rows(const NormBackward& norm, cudaStream_t stream, unsigned& blocks) {
  constexpr auto* kernel = &backward_kernel<T, kMean, kAddSum, kVectors, kStages, kThreads>;
  // Two small blocks per multiprocessor end sooner than a large one; partial_rows() has room for both.
  const dim3 half = cut(norm.width / kElements<T>, kVectors, kBlockThreads / 2);
  const bool two = half.x <= kBlockThreads / 2;
  const dim3 block = two ? half : cut(norm.width / kElements<T>, kVectors, kThreads);
  using Rows = Ring<kAddSum ? 3 : 2, kVectors, kStages>;
  const int slots = Rows::kSlots + (kSharesWeight<kVectors, kThreads> ? kVectors : 0);
  const int shared = slots * kVectorBytes * static_cast<int>(block.x * block.y);
  if (!take_shared(kernel, shared)) return false;
  // The fewest blocks with this number of turns: they end together, and leave fewer parts to add up.
  const std::int64_t most = std::min<std::int64_t>((two ? 2 : 1) * multiprocessors(), kMostPartialRows);
  const std::int64_t turns_of_all = (norm.rows + block.y - 1) / block.y;
  const std::int64_t turns = (turns_of_all + most - 1) / most;
  blocks = static_cast<unsigned>((turns_of_all + turns - 1) / turns);
  kernel<<<blocks, block, shared, stream>>>(norm);
  return true;
}

// LayerNorm's fp32 rows of more than 8192 columns take 16 KiB of shared memory per vector, tensor and stage. Two stages
// of three vectors (192 KiB) are faster on an H200 than one of four (128 KiB), by 5 percentage points of a copy's
// speed.
template <typename T, bool kMean, bool kAddSum>
bool launch_backward_widest(const NormBackward& norm, cudaStream_t stream, unsigned& blocks) {
  const std::int64_t row_vectors = norm.width / kElements<T>;
  if (row_vectors <= 3 * kWidestThreads &&
      launch_backward_rows<T, kMean, kAddSum, 3, 2, kWidestThreads>(norm, stream, blocks))
    return true;
  return row_vectors <= 4 * kWidestThreads &&
         launch_backward_rows<T, kMean, kAddSum, 4, 1, kWidestThreads>(norm, stream, blocks);
}

template <typename T, bool kMean, bool kAddSum>
bool launch_backward_whole(const NormBackward& norm, cudaStream_t stream, unsigned& blocks) {
  const std::int64_t row_vectors = norm.width / kElements<T>;
  const bool whole = norm.width % kElements<T> == 0 && aligned(norm.dy) && aligned(norm.x) && aligned(norm.weight) &&
                     aligned(norm.d_sum) && aligned(norm.dx);
  if (!whole) return false;
  if (row_vectors <= 2 * kBlockThreads) return launch_backward_rows<T, kMean, kAddSum, 2>(norm, stream, blocks);
  if (row_vectors <= 4 * kBlockThreads) return launch_backward_rows<T, kMean, kAddSum, 4>(norm, stream, blocks);
  if constexpr (kMean && std::is_same_v<T, float>)
    return launch_backward_widest<T, kMean, kAddSum>(norm, stream, blocks);
  return false;
}

template <typename T, bool kMean>
int launch_backward(const NormBackward& norm, cudaStream_t stream) {
  unsigned blocks = 0;
  bool whole = false;
  if constexpr (kMean) {
    whole = launch_backward_whole<T, kMean, false>(norm, stream, blocks);
  } else {
    whole = norm.d_sum == nullptr ? launch_backward_whole<T, kMean, false>(norm, stream, blocks)
                                  : launch_backward_whole<T, kMean, true>(norm, stream, blocks);
  }
  if (!whole) {
    blocks = static_cast<unsigned>(std::min<std::int64_t>(2 * multiprocessors(), partial_rows(norm.rows)));
    launch_wide_backward<T, kMean>(norm, blocks, stream);
  }
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? launch_column_sum<T>(norm, static_cast<int>(blocks), stream) : error;
}

}  // namespace headroom::kernels::row_norm
