// The CUDA side of the norms of rows: RMSNorm, RMSNorm behind a residual addition, LayerNorm.
//
// A row belongs to a group of threads (threadIdx.y of a block), and 16-byte vector v of thread t is vector
// v · blockDim.x + t of the row, in every row: so a thread keeps its columns' weights, and backward its columns' sums for
// the gradients of weight and bias, in registers from row to row. A persistent grid walks the rows. While a row is
// worked on, the next ones are on their way into shared memory (cp.async; each thread fetches just what it reads
// itself, so that no barrier is needed for it).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/row_norm.h"
#include "kernels/row_norm_wide.cuh"
#include "kernels/storage.cuh"

namespace headroom::kernels {

namespace row_norm {

constexpr int kBlockThreads = 512;  // at most, in any block
constexpr int kForwardVectors = 4;  // of a row, a thread
constexpr int kForwardBlocks = 3;   // a multiprocessor: 40 registers a thread
constexpr int kStages = 2;          // rows of a group in shared memory: one to work on, one on its way
constexpr int kMostGroups = 15;  // a block has 16 barriers: one each, and that of __syncthreads

__device__ __forceinline__ void copy_async(void* to_shared, const void* from, bool there) {
  // Reads nothing and writes zeros where the row has ended.
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to_shared))),
               "l"(from), "r"(there ? kVectorBytes : 0)
               : "memory");
}
__device__ __forceinline__ void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kStillUnderWay>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kStillUnderWay) : "memory");
}

// Barrier 0 is that of the whole block: a group that still works must not meet others there.
__device__ __forceinline__ void group_barrier() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
}

// Sums over the threads of a group, the same bits in all of them and in every run. Of two successive sums each has
// memory of its own, so that one barrier a sum is enough.
template <int kSums>
class GroupSum {
 public:
  // Room for the warps of all groups, a group's rounded up to four.
  static constexpr int kRoom = 64;
  struct Memory {
    float4 part[2][kSums][kRoom / 4];
  };

  __device__ explicit GroupSum(Memory& memory) : memory_(memory), fours_((blockDim.x / kWarp + 3) / 4) {
    float* const all = reinterpret_cast<float*>(&memory);
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < 2 * kSums * kRoom; i += blockDim.x * blockDim.y) all[i] = 0;
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

// The rows on their way into shared memory: kStages rows of kStreams tensors, kVectors vectors a thread. A thread fetches
// what it reads itself, so no barrier is needed.
template <int kStreams, int kVectors>
class Ring {
 public:
  static constexpr int kSlots = kStages * kStreams * kVectors;  // vectors a thread

  __device__ Ring(uint4* memory, const void* const (&tensors)[kStreams], std::int64_t row, std::int64_t step,
                  std::int64_t rows, int row_vectors)
      : threads_(blockDim.x * blockDim.y), row_vectors_(row_vectors), at_(row * row_vectors),
        step_(step * row_vectors), end_(rows * row_vectors) {
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

  // Fetches the next row that has not been fetched to where the present one lies.
  __device__ __forceinline__ void fetch() {
    if (at_ < end_) {
#pragma unroll
      for (int stream = 0; stream < kStreams; ++stream) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const int column = v * blockDim.x + threadIdx.x;
          const bool there = column < row_vectors_;
          copy_async(place(stream, v), tensors_[stream] + (there ? at_ + column : 0), there);
        }
      }
    }
    at_ += step_;
    end_of_copies();  // empty groups keep the count in step
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

// 16 bytes as they came from memory stay four words; numbers are taken out of them when they are needed, or the
// compiler would keep the fp32 numbers, twice the registers.
template <typename T>
constexpr int kElements = kVectorBytes / static_cast<int>(sizeof(T));

__device__ __forceinline__ void unpack(float, unsigned word, float* number) { number[0] = __uint_as_float(word); }
__device__ __forceinline__ void unpack(Bf16, unsigned word, float* number) {
  number[0] = __uint_as_float(word << 16);
  number[1] = __uint_as_float(word & 0xffff0000u);
}
__device__ __forceinline__ void unpack(Fp16, unsigned word, float* number) {
  number[0] = __half2float(__ushort_as_half(static_cast<unsigned short>(word & 0xffffu)));
  number[1] = __half2float(__ushort_as_half(static_cast<unsigned short>(word >> 16)));
}
__device__ __forceinline__ unsigned pack(float, const float* number) { return __float_as_uint(number[0]); }
__device__ __forceinline__ unsigned pack(Bf16, const float* number) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(number[0], number[1]);
  return reinterpret_cast<const unsigned&>(pair);
}
__device__ __forceinline__ unsigned pack(Fp16, const float* number) {
  const __half2 pair = __floats2half2_rn(number[0], number[1]);
  return reinterpret_cast<const unsigned&>(pair);
}

template <typename T>
struct Numbers {
  float at[kElements<T>];

  __device__ __forceinline__ explicit Numbers(const uint4& packed) {
    constexpr int kEach = kElements<T> / 4;
    unpack(T{}, packed.x, at);
    unpack(T{}, packed.y, at + kEach);
    unpack(T{}, packed.z, at + 2 * kEach);
    unpack(T{}, packed.w, at + 3 * kEach);
  }
  __device__ __forceinline__ Numbers() {}
  __device__ __forceinline__ uint4 packed() const {
    constexpr int kEach = kElements<T> / 4;
    return {pack(T{}, at), pack(T{}, at + kEach), pack(T{}, at + 2 * kEach), pack(T{}, at + 3 * kEach)};
  }
};

// From here on the compiler knows the bits only.
__device__ __forceinline__ void keep_packed(uint4& bits) {
  asm volatile("" : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w));
}

// Mean and 1 / √(variance + ε) of a group's row with one barrier: every warp squares about a pivot near its own mean, and
// the parts are joined after Chan, Golub and LeVeque 1979, equation 2.1b. The pivot is the mean of the warp's first
// vector, which lies at most √(n / elements of a vector) standard deviations from the mean of its n ≤ 1024 elements: the
// difference of squares loses at most 7 of fp32's 24 bits, in a row made for it, and about one in others.
template <typename T, int kVectors>
__device__ __forceinline__ float2 group_moments(uint4 (&x)[kVectors], int row_vectors, float width, float epsilon,
                                                float4* memory) {
  constexpr int kWidth = kElements<T>;
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  float pivot = 0;
  const Numbers<T> first(x[0]);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) pivot += first.at[e];
  pivot = __shfl_sync(0xffffffffu, pivot, 0) / kWidth;

  float sum = 0, square = 0;
  int vectors = 0;  // of this warp
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    vectors += max(0, min(kWarp, row_vectors - static_cast<int>(v * blockDim.x + warp * kWarp)));
    if (v * blockDim.x + threadIdx.x >= row_vectors) continue;
    keep_packed(x[v]);
    const Numbers<T> numbers(x[v]);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const float beside = numbers.at[e] - pivot;
      sum += beside;
      square += beside * beside;
    }
  }
  const float count = static_cast<float>(vectors * kWidth);
  sum = warp_sum(sum);
  const float beside = sum / fmaxf(count, 1.0f);
  square = warp_sum(square) - sum * beside;
  if (square < 0) square = 0;  // rounding, where all are alike; a NaN stays
  if (warps == 1) return {pivot + beside, rsqrtf(square / width + epsilon)};

  float4* const part = memory + threadIdx.y * warps;
  if (threadIdx.x % kWarp == 0) part[warp] = make_float4(count, pivot + beside, square, 0);
  group_barrier();
  float mean = 0;
  for (int i = 0; i < warps; ++i) mean += part[i].x * part[i].y;
  mean /= width;
  float row_square = 0;
  for (int i = 0; i < warps; ++i) {
    const float4 p = part[i];
    row_square += p.z + p.x * (p.y - mean) * (p.y - mean);
  }
  return {mean, rsqrtf(row_square / width + epsilon)};
}

// 1 / √(mean square + ε) of a group's row.
template <typename T, int kVectors>
__device__ __forceinline__ float group_rstd(const uint4 (&x)[kVectors], float width, float epsilon, float4* memory) {
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  float square = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Numbers<T> numbers(x[v]);
#pragma unroll
    for (int e = 0; e < kElements<T>; ++e) square += numbers.at[e] * numbers.at[e];
  }
  square = warp_sum(square);
  if (warps > 1) {
    float* const part = reinterpret_cast<float*>(memory) + threadIdx.y * warps;
    if (threadIdx.x % kWarp == 0) part[warp] = square;
    group_barrier();
    square = 0;
    for (int i = 0; i < warps; ++i) square += part[i];
  }
  return rsqrtf(square / width + epsilon);
}

// y of one row a group. Many small groups with the row in few registers: while some wait for a sum, others load.
template <typename T, NormKind kKind>
__global__ void __launch_bounds__(kBlockThreads, kForwardBlocks) forward_kernel(NormForward norm) {
  constexpr int kVectors = kForwardVectors;
  constexpr int kWidth = kElements<T>;
  constexpr bool kAdd = kKind == NormKind::kAddRms;
  constexpr bool kMean = kKind == NormKind::kLayer;
  __shared__ float4 memory[kBlockThreads / kWarp];
  const int row_vectors = static_cast<int>(norm.width / kWidth);
  const auto width = static_cast<float>(norm.width);
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= norm.rows) return;
  const std::int64_t begin = row * row_vectors;

  uint4 x[kVectors], residual[kAdd ? kVectors : 1];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    const bool there = column < row_vectors;
    x[v] = there ? static_cast<const uint4*>(norm.x)[begin + column] : uint4{};
    if constexpr (kAdd) residual[v] = there ? static_cast<const uint4*>(norm.residual)[begin + column] : uint4{};
  }
  if constexpr (kAdd) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Numbers<T> sum(x[v]);
      const Numbers<T> other(residual[v]);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum.at[e] += other.at[e];
      x[v] = sum.packed();
      const int column = v * blockDim.x + threadIdx.x;
      if (column < row_vectors) static_cast<uint4*>(norm.sum)[begin + column] = x[v];
    }
  }

  float mean = 0, rstd;
  if constexpr (kMean) {
    const float2 moments = group_moments<T>(x, row_vectors, width, norm.epsilon, memory);
    mean = moments.x;
    rstd = moments.y;
  } else if constexpr (kKind == NormKind::kRebuildRms) {
    rstd = norm.rstd[row];
  } else {
    rstd = group_rstd<T>(x, width, norm.epsilon, memory);
  }
  if (kKind != NormKind::kRebuildRms && threadIdx.x == 0) {
    norm.rstd[row] = rstd;
    if constexpr (kMean) norm.mean[row] = mean;
  }

  const float shift = -mean * rstd;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    if (column >= row_vectors) continue;
    keep_packed(x[v]);
    Numbers<T> y(x[v]);
    const Numbers<T> weight(__ldg(static_cast<const uint4*>(norm.weight) + column));
    if constexpr (kMean) {
      const Numbers<T> bias(__ldg(static_cast<const uint4*>(norm.bias) + column));
#pragma unroll
      for (int e = 0; e < kWidth; ++e) y.at[e] = (y.at[e] * rstd + shift) * weight.at[e] + bias.at[e];
    } else {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) y.at[e] = y.at[e] * rstd * weight.at[e];
    }
    static_cast<uint4*>(norm.y)[begin + column] = y.packed();
  }
}

// dx of all rows, and this block's row of the partial sums of dweight (and dbias).
// With g = dy · w and x̂ = (x − mean) · rstd: dx = rstd · (g − [LayerNorm: mean(g)] − x̂ · mean(g · x̂)) + d_sum,
// dweight = Σ dy · x̂ and dbias = Σ dy over the rows.
template <typename T, bool kMean, bool kAddSum, int kVectors>
__global__ void __launch_bounds__(kBlockThreads, 1) backward_kernel(NormBackward norm) {
  constexpr int kWidth = kElements<T>;
  constexpr int kStreams = kAddSum ? 3 : 2;
  constexpr int kSums = kMean ? 2 : 1;
  using Rows = Ring<kStreams, kVectors>;
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
  // In shared memory, because the registers are full of sums.
  uint4* const weight = shared_memory + Rows::kSlots * threads + threadIdx.y * blockDim.x + threadIdx.x;
  float dweight[kVectors][kWidth];
  float dbias[kMean ? kVectors : 1][kWidth];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    weight[v * threads] = column < row_vectors ? static_cast<const uint4*>(norm.weight)[column] : uint4{};
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      dweight[v][e] = 0;
      if constexpr (kMean) dbias[v][e] = 0;
    }
  }

  float rstd = row < norm.rows ? norm.rstd[row] : 0;
  float mean = kMean && row < norm.rows ? norm.mean[row] : 0;
  GroupSum<kSums> group_sum(sum_memory);
  for (; row < norm.rows; row += step) {
    const std::int64_t next_row = row + step;
    const float next_rstd = next_row < norm.rows ? norm.rstd[next_row] : 0;
    const float next_mean = kMean && next_row < norm.rows ? norm.mean[next_row] : 0;
    const float shift = -mean * rstd;
    ring.wait();
    float sums[kSums] = {};
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Numbers<T> numbers(*ring.place(0, v)), upstream(*ring.place(1, v)), weights(weight[v * threads]);
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
    asm volatile("" ::: "memory");  // read again below: kept, the row would take the registers of a second block

    // rstd · (g − level − x̂ · along)
    const float along = -rstd * sums[0] * part_of_mean;
    const float level = kMean ? -rstd * sums[kSums - 1] * part_of_mean : 0.0f;
    const std::int64_t begin = row * row_vectors;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * blockDim.x + threadIdx.x;
      const Numbers<T> numbers(*ring.place(0, v)), upstream(*ring.place(1, v)), weights(weight[v * threads]);
      Numbers<T> dx;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float normal = numbers.at[e] * rstd + shift;
        const float g = upstream.at[e] * weights.at[e];
        dx.at[e] = g * rstd + (kMean ? normal * along + level : normal * along);
      }
      if constexpr (kAddSum) {
        const Numbers<T> around(*ring.place(2, v));
#pragma unroll
        for (int e = 0; e < kWidth; ++e) dx.at[e] += around.at[e];
      }
      if (column < row_vectors) static_cast<uint4*>(norm.dx)[begin + column] = dx.packed();
    }
    ring.fetch();
    ring.next();
    rstd = next_rstd;
    mean = next_mean;
  }
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif

  // The groups' sums are added up in the ring's memory: its kStages · kStreams vectors of storage for a vector of columns
  // have room for as many fp32 numbers as that has elements.
  float* const shared = reinterpret_cast<float*>(shared_memory);
  const int padded = kVectors * blockDim.x * kWidth;
#pragma unroll
  for (int which = 0; which < kSums; ++which) {
    auto& own = which == 0 ? dweight : *reinterpret_cast<float(*)[kVectors][kWidth]>(&dbias);
    if (blockDim.y > 1) {
      wait_for_copies<0>();
      __syncthreads();
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          shared[threadIdx.y * padded + (v * kWidth + e) * blockDim.x + threadIdx.x] = own[v][e];
        }
      }
      __syncthreads();
    }
    if (threadIdx.y == 0) {
      float* const partial =
          (which == 0 ? norm.dweight_partials : norm.dbias_partials) + std::int64_t{blockIdx.x} * norm.width;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int column = v * blockDim.x + threadIdx.x;
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          for (int group = 1; group < blockDim.y; ++group) {
            own[v][e] += shared[group * padded + (v * kWidth + e) * blockDim.x + threadIdx.x];
          }
        }
        if (column < row_vectors) {
#pragma unroll
          for (int e = 0; e < kWidth; e += 4) {
            *reinterpret_cast<float4*>(partial + std::int64_t{column} * kWidth + e) =
                make_float4(own[v][e], own[v][e + 1], own[v][e + 2], own[v][e + 3]);
          }
        }
      }
      __syncwarp();
    }
  }
}

// dweight (blockIdx.y 0) and dbias (1) from the partial sums: 32 columns a block, a part of the parts each warp.
constexpr int kColumnWarps = 32;

template <typename T>
__global__ void __launch_bounds__(kWarp* kColumnWarps)
    column_sum_kernel(NormBackward norm, int parts) {
  __shared__ float shared[kColumnWarps][kWarp];
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();  // the launch may run ahead of the kernel that makes the partial sums
#endif
  const std::int64_t column = std::int64_t{blockIdx.x} * kWarp + threadIdx.x;
  const float* const partials = blockIdx.y == 0 ? norm.dweight_partials : norm.dbias_partials;
  float sum = 0;
  if (column < norm.width) {
#pragma unroll 8
    for (int part = threadIdx.y; part < parts; part += kColumnWarps) sum += partials[part * norm.width + column];
  }
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= norm.width) return;
  for (int warp = 1; warp < kColumnWarps; ++warp) sum += shared[warp][threadIdx.x];
  store(static_cast<T*>(blockIdx.y == 0 ? norm.dweight : norm.dbias)[column], sum);
}

// From compute capability 9.0 on the launch may be `overlapped` with the kernel before it.
template <typename T>
cudaError_t launch_column_sum(const NormBackward& norm, int parts, bool overlapped, cudaStream_t stream) {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((norm.width + kWarp - 1) / kWarp), norm.dbias == nullptr ? 1 : 2);
  config.blockDim = dim3(kWarp, kColumnWarps);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlapped && major >= 9 ? 1 : 0;
  return cudaLaunchKernelEx(&config, &column_sum_kernel<T>, norm, parts);
}

// How a pass is cut: `block.x` threads a row, `block.y` rows a block.
inline dim3 cut(std::int64_t row_vectors, int vectors_a_thread) {
  const std::int64_t threads = (row_vectors + vectors_a_thread - 1) / vectors_a_thread;
  const int row_threads = static_cast<int>((threads + kWarp - 1) / kWarp * kWarp);
  return dim3(row_threads, std::clamp(kBlockThreads / row_threads, 1, kMostGroups));
}
inline unsigned blocks_for(std::int64_t rows, dim3 block) {
  return static_cast<unsigned>((rows + block.y - 1) / block.y);
}

// Lets a kernel have `bytes` of shared memory a block; false where the device has less.
template <typename Kernel>
bool take_shared(Kernel* kernel, int bytes) {
  constexpr int kWithoutAsking = 48 << 10;
  if (bytes <= kWithoutAsking) return true;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess) return true;
  cudaGetLastError();  // an answer, not an error
  return false;
}

template <typename T, NormKind kKind>
int launch_forward(const NormForward& norm, cudaStream_t stream) {
  const std::int64_t row_vectors = norm.width / kElements<T>;
  const bool whole = norm.width % kElements<T> == 0 && aligned(norm.x) && aligned(norm.residual) &&
                     aligned(norm.weight) && aligned(norm.bias) && aligned(norm.sum) && aligned(norm.y);
  if (!whole || row_vectors > kForwardVectors * kBlockThreads) return launch_wide_forward<T, kKind>(norm, stream);
  const dim3 block = cut(row_vectors, kForwardVectors);
  forward_kernel<T, kKind><<<blocks_for(norm.rows, block), block, 0, stream>>>(norm);
  return cudaGetLastError();
}

// dx and the partial sums by `blocks` blocks; false: the device has not the shared memory for it.
template <typename T, bool kMean, bool kAddSum, int kVectors>
bool launch_backward_rows(const NormBackward& norm, cudaStream_t stream, unsigned& blocks) {
  constexpr auto* kernel = &backward_kernel<T, kMean, kAddSum, kVectors>;
  const dim3 block = cut(norm.width / kElements<T>, kVectors);
  const int slots = Ring<kAddSum ? 3 : 2, kVectors>::kSlots + kVectors;  // the rows and the weight
  const int shared = slots * kVectorBytes * static_cast<int>(block.x * block.y);
  if (!take_shared(kernel, shared)) return false;
  blocks = std::min({blocks_for(norm.rows, block), static_cast<unsigned>(multiprocessors()),
                     static_cast<unsigned>(kMostPartialRows)});
  kernel<<<blocks, block, shared, stream>>>(norm);
  return true;
}

template <typename T, bool kMean, bool kAddSum>
bool launch_backward_whole(const NormBackward& norm, cudaStream_t stream, unsigned& blocks) {
  const std::int64_t row_vectors = norm.width / kElements<T>;
  const bool whole = norm.width % kElements<T> == 0 && aligned(norm.dy) && aligned(norm.x) && aligned(norm.weight) &&
                     aligned(norm.d_sum) && aligned(norm.dx);
  if (!whole || row_vectors > 4 * kBlockThreads) return false;
  if (row_vectors > 2 * kBlockThreads) return launch_backward_rows<T, kMean, kAddSum, 4>(norm, stream, blocks);
  return launch_backward_rows<T, kMean, kAddSum, 2>(norm, stream, blocks);
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
  return error == cudaSuccess ? launch_column_sum<T>(norm, static_cast<int>(blocks), whole, stream) : error;
}

}  // namespace row_norm
}  // namespace headroom::kernels
