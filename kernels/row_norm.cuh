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

// The rows on their way into shared memory: kStages rows of kStreams tensors, kVectors vectors a thread.
template <int kStreams, int kVectors, int kStages>
class Ring {
 public:
  static std::size_t bytes(dim3 block) {
    return std::size_t{kStages} * kStreams * kVectors * kVectorBytes * block.x * block.y;
  }

  __device__ Ring(const void* const (&tensors)[kStreams], std::int64_t rows, int row_vectors)
      : rows_(rows), row_vectors_(row_vectors), threads_(blockDim.x * blockDim.y) {
    extern __shared__ uint4 ring_memory[];
    mine_ = ring_memory + threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
    for (int i = 0; i < kStreams; ++i) tensors_[i] = static_cast<const uint4*>(tensors[i]);
  }

  __device__ void fetch(std::int64_t row, int stage) {
    if (row < rows_) {
#pragma unroll
      for (int stream = 0; stream < kStreams; ++stream) {
        const uint4* const from = tensors_[stream] + row * row_vectors_;
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const int column = v * blockDim.x + threadIdx.x;
          const bool there = column < row_vectors_;
          copy_async(place(stage, stream, v), from + (there ? column : 0), there);
        }
      }
    }
    end_of_copies();  // empty groups keep the count in step
  }
  __device__ void wait() { wait_for_copies<kStages - 1>(); }
  __device__ uint4* place(int stage, int stream, int v) {
    return mine_ + ((stage * kStreams + stream) * kVectors + v) * threads_;
  }

 private:
  const uint4* tensors_[kStreams];
  uint4* mine_;
  const std::int64_t rows_;
  const int row_vectors_;
  const int threads_;
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

// Mean and 1 / √(variance + ε) of a group's row with one barrier: every warp takes the mean of its own part and squares
// about that, and the parts are joined after Chan, Golub and LeVeque 1979, equation 2.1b.
template <typename T, int kVectors>
__device__ __forceinline__ float2 group_moments(uint4 (&x)[kVectors], int row_vectors, float width, float epsilon,
                                                float4* memory) {
  constexpr int kWidth = kElements<T>;
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  float sum = 0;
  int vectors = 0;  // of this warp
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Numbers<T> numbers(x[v]);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sum += numbers.at[e];
    vectors += max(0, min(kWarp, row_vectors - static_cast<int>(v * blockDim.x + warp * kWarp)));
  }
  const float count = static_cast<float>(vectors * kWidth);
  const float mean = warp_sum(sum) / fmaxf(count, 1.0f);
  float square = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    keep_packed(x[v]);
    const Numbers<T> numbers(x[v]);
    const bool there = v * blockDim.x + threadIdx.x < row_vectors;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const float centred = there ? numbers.at[e] - mean : 0.0f;
      square += centred * centred;
    }
  }
  square = warp_sum(square);
  if (warps == 1) return {mean, rsqrtf(square / width + epsilon)};
  float4* const part = memory + threadIdx.y * warps;
  if (threadIdx.x % kWarp == 0) part[warp] = make_float4(count, mean, square, 0);
  group_barrier();
  float row_mean = 0;
  for (int i = 0; i < warps; ++i) row_mean += part[i].x * part[i].y;
  row_mean /= width;
  float row_square = 0;
  for (int i = 0; i < warps; ++i) {
    const float4 p = part[i];
    row_square += p.z + p.x * (p.y - row_mean) * (p.y - row_mean);
  }
  return {row_mean, rsqrtf(row_square / width + epsilon)};
}

template <int kLoad> __device__ __forceinline__ uint4 load_row(const uint4* p) {
  if constexpr (kLoad == 0) return __ldcs(p);
  uint4 r;
  if constexpr (kLoad == 1) asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p));
  else return *p;
  return r;
}
template <int kLoad> __device__ __forceinline__ void store_row(uint4* p, uint4 v) {
  if constexpr (kLoad == 1) __stcs(p, v); else *p = v;
}

// y of one row a group.
template <typename T, NormKind kKind, int kVectors, int kMostThreads, int kBlocks, int kLoad, int kStore>
__global__ void __launch_bounds__(kMostThreads, kBlocks) forward_kernel(NormForward norm) {
  constexpr int kWidth = kElements<T>;
  constexpr bool kAdd = kKind == NormKind::kAddRms;
  constexpr bool kMean = kKind == NormKind::kLayer;
  __shared__ float4 memory[kMostThreads / kWarp];
  const int row_vectors = static_cast<int>(norm.width / kWidth);
  const auto width = static_cast<float>(norm.width);
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= norm.rows) return;
  const std::int64_t begin = row * row_vectors;

  uint4 x[kVectors], residual[kAdd ? kVectors : 1];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    x[v] = column < row_vectors ? load_row<kLoad>(static_cast<const uint4*>(norm.x) + begin + column) : uint4{};
    if constexpr (kAdd) {
      residual[v] = column < row_vectors ? load_row<kLoad>(static_cast<const uint4*>(norm.residual) + begin + column) : uint4{};
    }
  }
  if constexpr (kAdd) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Numbers<T> sum(x[v]);
      const Numbers<T> r(residual[v]);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum.at[e] += r.at[e];
      x[v] = sum.packed();
      const int column = v * blockDim.x + threadIdx.x;
      if (column < row_vectors) store_row<kStore>(static_cast<uint4*>(norm.sum) + begin + column, x[v]);
    }
  }

  float mean = 0, rstd;
  if constexpr (kKind == NormKind::kRebuildRms) {
    rstd = norm.rstd[row];
  } else if constexpr (kMean) {
    const float2 moments = group_moments<T, kVectors>(x, row_vectors, width, norm.epsilon, memory);
    mean = moments.x;
    rstd = moments.y;
  } else {
    float square = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Numbers<T> numbers(x[v]);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) square += numbers.at[e] * numbers.at[e];
    }
    square = warp_sum(square);
    const int warps = blockDim.x / kWarp;
    if (warps > 1) {
      float* const part = reinterpret_cast<float*>(memory) + threadIdx.y * warps;
      if (threadIdx.x % kWarp == 0) part[threadIdx.x / kWarp] = square;
      group_barrier();
      square = 0;
      for (int i = 0; i < warps; ++i) square += part[i];
    }
    rstd = rsqrtf(square / width + norm.epsilon);
  }
  if constexpr (kKind != NormKind::kRebuildRms) {
    if (threadIdx.x == 0) {
      norm.rstd[row] = rstd;
      if constexpr (kMean) norm.mean[row] = mean;
    }
  }

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
      for (int e = 0; e < kWidth; ++e) y.at[e] = (y.at[e] - mean) * rstd * weight.at[e] + bias.at[e];
    } else {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) y.at[e] = y.at[e] * rstd * weight.at[e];
    }
    store_row<kStore>(static_cast<uint4*>(norm.y) + begin + column, y.packed());
  }
}

// dx of all rows, and this block's row of the partial sums of dweight (and dbias).
// With g = dy · w and x̂ = (x − mean) · rstd: dx = rstd · (g − [LayerNorm: mean(g)] − x̂ · mean(g · x̂)) + d_sum,
// dweight = Σ dy · x̂ and dbias = Σ dy over the rows.
template <typename T, bool kMean, bool kAddSum, int kVectors, int kStages, int kMostThreads, int kBlocks, bool kKeep = true>
__global__ void __launch_bounds__(kMostThreads, kBlocks) backward_kernel(NormBackward norm) {
  constexpr int kWidth = kElements<T>;
  constexpr int kStreams = kAddSum ? 3 : 2;
  constexpr int kSums = kMean ? 2 : 1;
  __shared__ typename GroupSum<kSums>::Memory sum_memory;
  GroupSum<kSums> group_sum(sum_memory);
  const int row_vectors = static_cast<int>(norm.width / kWidth);
  const float part_of_mean = 1.0f / static_cast<float>(norm.width);
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.y;
  std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;

  const void* const tensors[3] = {norm.x, norm.dy, norm.d_sum};
  const void* streams[kStreams];
#pragma unroll
  for (int i = 0; i < kStreams; ++i) streams[i] = tensors[i];
  Ring<kStreams, kVectors, kStages> ring(streams, norm.rows, row_vectors);
#pragma unroll
  for (int s = 0; s < kStages; ++s) ring.fetch(row + s * step, s);

  uint4 weight[kVectors];
  float dweight[kVectors][kWidth];
  float dbias[kMean ? kVectors : 1][kWidth];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    weight[v] = column < row_vectors ? static_cast<const uint4*>(norm.weight)[column] : uint4{};
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      dweight[v][e] = 0;
      if constexpr (kMean) dbias[v][e] = 0;
    }
  }

  float rstd = row < norm.rows ? norm.rstd[row] : 0;
  float mean = kMean && row < norm.rows ? norm.mean[row] : 0;
  int stage = 0;
  for (; row < norm.rows; row += step) {
    const std::int64_t next_row = row + step;
    const float next_rstd = next_row < norm.rows ? norm.rstd[next_row] : 0;
    const float next_mean = kMean && next_row < norm.rows ? norm.mean[next_row] : 0;
    uint4 x[kVectors], dy[kVectors], d_sum[kAddSum ? kVectors : 1];
    ring.wait();
#pragma unroll
    for (int v = 0; v < kVectors; ++v) keep_packed(weight[v]);
    float sums[kSums] = {};
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      x[v] = *ring.place(stage, 0, v);
      dy[v] = *ring.place(stage, 1, v);
      if constexpr (kAddSum && kKeep) d_sum[v] = *ring.place(stage, 2, v);
      const Numbers<T> numbers(x[v]), upstream(dy[v]), weights(weight[v]);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float normal = (numbers.at[e] - mean) * rstd;
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
    if constexpr (kKeep) ring.fetch(row + kStages * step, stage);  // what lay there is in registers
    else asm volatile("" ::: "memory");
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      keep_packed(weight[v]);
      if constexpr (kKeep) {
        keep_packed(x[v]);
        keep_packed(dy[v]);
        if constexpr (kAddSum) keep_packed(d_sum[v]);
      }
    }

    const float along = sums[0] * part_of_mean;
    const float level = kMean ? sums[kSums - 1] * part_of_mean : 0.0f;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * blockDim.x + threadIdx.x;
      if (column >= row_vectors) continue;
      if constexpr (!kKeep) {
        x[v] = *ring.place(stage, 0, v);
        dy[v] = *ring.place(stage, 1, v);
        if constexpr (kAddSum) d_sum[v] = *ring.place(stage, 2, v);
      }
      const Numbers<T> numbers(x[v]), upstream(dy[v]), weights(weight[v]);
      Numbers<T> dx;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float normal = (numbers.at[e] - mean) * rstd;
        dx.at[e] = rstd * (upstream.at[e] * weights.at[e] - level - normal * along);
      }
      if constexpr (kAddSum) {
        const Numbers<T> around(d_sum[v]);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) dx.at[e] += around.at[e];
      }
      static_cast<uint4*>(norm.dx)[row * row_vectors + column] = dx.packed();
    }
    if constexpr (!kKeep) ring.fetch(row + kStages * step, stage);
    stage = stage + 1 == kStages ? 0 : stage + 1;
    rstd = next_rstd;
    mean = next_mean;
  }
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif

  // The groups' sums, added up in the ring's memory: kStages · kStreams · 16 bytes of storage a vector hold as many
  // fp32 numbers as a vector has elements.
  extern __shared__ uint4 ring_memory[];
  float* const shared = reinterpret_cast<float*>(ring_memory);
  const int padded = kVectors * blockDim.x * kWidth;
#pragma unroll
  for (int which = 0; which < kSums; ++which) {
    float* const partial =
        (which == 0 ? norm.dweight_partials : norm.dbias_partials) + std::int64_t{blockIdx.x} * norm.width;
    if (blockDim.y > 1) {
      wait_for_copies<0>();
      __syncthreads();
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          const float value = kMean && which == 1 ? dbias[kMean ? v : 0][e] : dweight[v][e];
          shared[threadIdx.y * padded + (v * kWidth + e) * blockDim.x + threadIdx.x] = value;
        }
      }
      __syncthreads();
    }
    if (threadIdx.y > 0) continue;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * blockDim.x + threadIdx.x;
      if (column >= row_vectors) continue;
      float value[kWidth];
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        value[e] = kMean && which == 1 ? dbias[kMean ? v : 0][e] : dweight[v][e];
        for (int group = 1; group < blockDim.y; ++group) {
          value[e] += shared[group * padded + (v * kWidth + e) * blockDim.x + threadIdx.x];
        }
      }
#pragma unroll
      for (int e = 0; e < kWidth; e += 4) {
        *reinterpret_cast<float4*>(partial + std::int64_t{column} * kWidth + e) =
            make_float4(value[e], value[e + 1], value[e + 2], value[e + 3]);
      }
    }
  }
}

// dweight (blockIdx.y 0) and dbias (1) from the partial sums: 32 columns a block, a part of the parts each warp.
constexpr int kColumnWarps = 16;

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

template <typename T>
cudaError_t launch_column_sum(const NormBackward& norm, int parts, bool overlapped, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((norm.width + kWarp - 1) / kWarp), norm.dbias == nullptr ? 1 : 2);
  config.blockDim = dim3(kWarp, kColumnWarps);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlapped ? 1 : 0;
  return cudaLaunchKernelEx(&config, &column_sum_kernel<T>, norm, parts);
}

// How a pass is cut: `block.x` threads a row, `block.y` rows a block.
inline dim3 cut(std::int64_t row_vectors, int vectors_a_thread, int block_threads) {
  const std::int64_t threads = (row_vectors + vectors_a_thread - 1) / vectors_a_thread;
  const int row_threads = static_cast<int>((threads + kWarp - 1) / kWarp * kWarp);
  return dim3(row_threads, std::clamp(block_threads / row_threads, 1, kMostGroups));
}

inline unsigned grid_of(std::int64_t rows, dim3 block, std::int64_t most_blocks) {
  return static_cast<unsigned>(std::min((rows + block.y - 1) / block.y, most_blocks));
}

// Lets a kernel have `bytes` of shared memory a block; false where the device has less.
template <typename Kernel>
bool take_shared(Kernel* kernel, std::size_t bytes) {
  constexpr std::size_t kWithoutAsking = 48 << 10;
  if (bytes <= kWithoutAsking) return true;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

constexpr int kBlockThreads = 512;

template <typename T, NormKind kKind, int kVectors>
cudaError_t launch_forward_rows(const NormForward& norm, cudaStream_t stream) {
  const dim3 block = cut(norm.width / kElements<T>, kVectors, kBlockThreads);
  const unsigned grid = grid_of(norm.rows, block, (std::int64_t{1} << 31) - 1);
  forward_kernel<T, kKind, kVectors, 1024, 1, 0, 0><<<grid, block, 0, stream>>>(norm);
  return cudaGetLastError();
}

template <typename T, NormKind kKind>
int launch_forward(const NormForward& norm, cudaStream_t stream) {
  constexpr std::int64_t kMostThreads = 1024;
  const std::int64_t vectors = norm.width / kElements<T>;
  const bool whole = norm.width % kElements<T> == 0 && aligned(norm.x) && aligned(norm.residual) &&
                     aligned(norm.weight) && aligned(norm.bias) && aligned(norm.sum) && aligned(norm.y);
  if (!whole || vectors > 4 * kMostThreads) return launch_wide_forward<T, kKind>(norm, stream);
  if (vectors > 2 * kMostThreads) return launch_forward_rows<T, kKind, 4>(norm, stream);
  return launch_forward_rows<T, kKind, 2>(norm, stream);
}

// dx and the partial sums. `blocks` tells how many rows of partial sums were made.
template <typename T, bool kMean, bool kAddSum, int kVectors>
bool launch_backward_rows(const NormBackward& norm, cudaStream_t stream, unsigned& blocks) {
  constexpr int kStages = 2;
  constexpr auto* kernel = &backward_kernel<T, kMean, kAddSum, kVectors, kStages, kBlockThreads, 1>;
  const dim3 block = cut(norm.width / kElements<T>, kVectors, kBlockThreads);
  const std::size_t shared = Ring<kAddSum ? 3 : 2, kVectors, kStages>::bytes(block);
  if (!take_shared(kernel, shared)) return false;
  blocks = grid_of(norm.rows, block, std::min<std::int64_t>(multiprocessors(), kMostPartialRows));
  kernel<<<blocks, block, shared, stream>>>(norm);
  return true;
}

template <typename T, bool kMean, bool kAddSum>
bool launch_backward_whole(const NormBackward& norm, cudaStream_t stream, unsigned& blocks) {
  const std::int64_t vectors = norm.width / kElements<T>;
  const bool whole = norm.width % kElements<T> == 0 && aligned(norm.dy) && aligned(norm.x) && aligned(norm.weight) &&
                     aligned(norm.d_sum) && aligned(norm.dx);
  if (!whole || vectors > 4 * kBlockThreads) return false;
  if (vectors > 2 * kBlockThreads) return launch_backward_rows<T, kMean, kAddSum, 4>(norm, stream, blocks);
  return launch_backward_rows<T, kMean, kAddSum, 2>(norm, stream, blocks);
}

template <typename T, bool kMean>
int launch_backward(const NormBackward& norm, cudaStream_t stream) {
  unsigned blocks = 0;
  const bool whole = norm.d_sum != nullptr && !kMean ? launch_backward_whole<T, kMean, !kMean>(norm, stream, blocks)
                                                     : launch_backward_whole<T, kMean, false>(norm, stream, blocks);
  if (!whole) {
    blocks = grid_of(norm.rows, dim3(), std::min<std::int64_t>(2 * multiprocessors(), kMostPartialRows));
    launch_wide_backward<T, kMean>(norm, blocks, stream);
  }
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? launch_column_sum<T>(norm, static_cast<int>(blocks), whole, stream) : error;
}

}  // namespace row_norm
}  // namespace headroom::kernels
