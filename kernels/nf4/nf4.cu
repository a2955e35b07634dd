// Computes    code = index of the NF4 level nearest to w / a, a = max |w| of 64 weights; a is stored in 8 bits as mean
//             + s q(c), with one s per 256 a's; dequantizing is the reverse
// Shapes      w [n] contiguous; the rest as in nf4.h
// Precision   arithmetic fp32 without contraction, same bits as on the CPU; the mean's sum in double
// Memory      quantizing: one fp32 of scratch per 64 weights. Dequantizing moves 0.516 n bytes and the weights
// Variants    eight weights per thread: 4-byte loads of codes and 16-byte accesses to weights if the eight are
//             complete and aligned, otherwise single bytes and weights
// Source      Dettmers et al. 2023, arXiv:2305.14314, section 3 and appendix E
// Checked by  tests/kernels/formats/nf4_cases.cpp

#include "kernels/common/dynamic_code.h"
#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/nf4/nf4.h"
#include "kernels/nf4/nf4_math.h"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kPack = 8;                            // weights per thread
constexpr int kLanes = kNf4Block / kPack;           // threads per block of weights
constexpr int kSteps = 4;                           // packs per dequantizing thread
constexpr int kScalePack = kNf4ScaleBlock / kWarp;  // absmaxes per lane
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ const Nf4Tables kTables = nf4_tables();
__device__ const DynamicMap kMap = dynamic_map(/*is_signed=*/true);

template <typename T>
__device__ __forceinline__ Pack<T, kPack> load_weights(const T* weight, std::int64_t i, std::int64_t n, bool wide) {
  if (wide && i + kPack <= n) return load_pack<kPack>(weight + i);
  Pack<T, kPack> pack{};
#pragma unroll
  for (int k = 0; k < kPack; ++k) {
    if (i + k < n) pack.element[k] = weight[i + k];
  }
  return pack;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    quantise_kernel(const T* weight, const __grid_constant__ Nf4Args args, float* absmax, bool wide) {
  __shared__ float middle[15];
  if (threadIdx.x < 15) middle[threadIdx.x] = kTables.middle[threadIdx.x];
  __syncthreads();
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kPack;
  const Pack<T, kPack> pack = load_weights(weight, i, args.n, wide);  // zeros past the end
  float values[kPack];
  unsigned largest = 0;
#pragma unroll
  for (int k = 0; k < kPack; ++k) {
    values[k] = load(pack.element[k]);
    largest = max(largest, bits_of(values[k]) & 0x7fffffffu);
  }
#pragma unroll
  for (int lane = kLanes / 2; lane > 0; lane /= 2) largest = max(largest, __shfl_xor_sync(kAllLanes, largest, lane));
  if (i >= args.n) return;
  const float block_absmax = float_of(largest), inverse = inverse_absmax(block_absmax);
  if (threadIdx.x % kLanes == 0) absmax[i / kNf4Block] = block_absmax;
#pragma unroll
  for (int k = 0; k < kPack; k += 2) {
    if (i + k >= args.n) break;
    const unsigned high = nf4_code(values[k] * inverse, middle);
    const unsigned low = i + k + 1 < args.n ? nf4_code(values[k + 1] * inverse, middle) : 0u;
    args.codes[(i + k) / 2] = static_cast<std::uint8_t>(high << 4 | low);
  }
}

// See kMeanParts.
__global__ void __launch_bounds__(kMeanParts) mean_kernel(const float* absmax, std::int64_t blocks, float* mean) {
  __shared__ double sum[kMeanParts];
  double mine = 0;
  for (std::int64_t i = threadIdx.x; i < blocks; i += kMeanParts) mine += double{absmax[i]};
  sum[threadIdx.x] = mine;
  for (int distance = kMeanParts / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) sum[threadIdx.x] += sum[threadIdx.x + distance];
  }
  if (threadIdx.x == 0) *mean = static_cast<float>(sum[0] / static_cast<double>(blocks));
}

// Each warp quantizes 256 absmaxes.
__global__ void __launch_bounds__(kThreads)
    absmax_kernel(const float* absmax, const __grid_constant__ Nf4Args args, std::int64_t blocks) {
  const std::int64_t group = std::int64_t{blockIdx.x} * (kThreads / kWarp) + threadIdx.x / kWarp;
  const std::int64_t first = group * kNf4ScaleBlock + threadIdx.x % kWarp;
  if (group * kNf4ScaleBlock >= blocks) return;
  const float mean = *args.absmax_mean;
  float values[kScalePack];
  unsigned largest = 0;
#pragma unroll
  for (int k = 0; k < kScalePack; ++k) {
    const std::int64_t i = first + k * kWarp;
    values[k] = i < blocks ? absmax[i] - mean : 0.0f;
    largest = max(largest, bits_of(values[k]) & 0x7fffffffu);
  }
#pragma unroll
  for (int lane = kWarp / 2; lane > 0; lane /= 2) largest = max(largest, __shfl_xor_sync(kAllLanes, largest, lane));
  const float scale = float_of(largest), inverse = inverse_absmax(scale);
  if (threadIdx.x % kWarp == 0) args.absmax_scale[group] = scale;
#pragma unroll
  for (int k = 0; k < kScalePack; ++k) {
    const std::int64_t i = first + k * kWarp;
    if (i < blocks) args.absmax_codes[i] = dynamic_code<true>(values[k] * inverse, kMap.decade);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    dequantise_kernel(const __grid_constant__ Nf4Args args, T* weight, bool wide) {
  __shared__ float level[16];
  if (threadIdx.x < 16) level[threadIdx.x] = kTables.level[threadIdx.x];
  __syncthreads();
  const float mean = *args.absmax_mean;
  const std::int64_t begin = std::int64_t{blockIdx.x} * (kThreads * kPack * kSteps) + threadIdx.x * kPack;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t i = begin + step * (kThreads * kPack);
    if (i >= args.n) return;
    const std::int64_t block = i / kNf4Block;
    const float absmax = mean + args.absmax_scale[block / kNf4ScaleBlock] * kMap.value[args.absmax_codes[block]];
    if (wide && i + kPack <= args.n) {
      const unsigned codes = *reinterpret_cast<const unsigned*>(args.codes + i / 2);
      Pack<T, kPack> pack;
#pragma unroll
      for (int k = 0; k < kPack; ++k) {  // weight k: byte k / 2 from the lowest, high half if k is even
        store(pack.element[k], level[codes >> (k / 2 * 8 + (k % 2 == 0 ? 4 : 0)) & 15u] * absmax);
      }
      store_pack(weight + i, pack);
      continue;
    }
#pragma unroll
    for (int k = 0; k < kPack; ++k) {
      if (i + k >= args.n) break;
      store(weight[i + k], level[args.codes[(i + k) / 2] >> (k % 2 == 0 ? 4 : 0) & 15] * absmax);
    }
  }
}

unsigned blocks_for(std::int64_t count, std::int64_t each) { return static_cast<unsigned>((count + each - 1) / each); }

}  // namespace

int nf4_quantise_cuda(const void* weight, Storage storage, const Nf4Args& args, float* absmax, CUstream_st* stream) {
  if (args.n == 0) return cudaSuccess;
  with_storage(storage, [&](auto type) {
    using T = decltype(type);
    quantise_kernel<T><<<blocks_for(args.n, kThreads * kPack), kThreads, 0, stream>>>(static_cast<const T*>(weight),
                                                                                      args, absmax, aligned(weight));
  });
  const std::int64_t blocks = nf4_blocks(args.n);
  mean_kernel<<<1, kMeanParts, 0, stream>>>(absmax, blocks, args.absmax_mean);
  absmax_kernel<<<blocks_for(nf4_scales(args.n), kThreads / kWarp), kThreads, 0, stream>>>(absmax, args, blocks);
  return cudaGetLastError();
}

int nf4_dequantise_cuda(const Nf4Args& args, void* weight, Storage storage, CUstream_st* stream) {
  if (args.n == 0) return cudaSuccess;
  const bool wide = aligned(weight) && reinterpret_cast<std::uintptr_t>(args.codes) % 4 == 0;
  const unsigned blocks = blocks_for(args.n, kThreads * kPack * kSteps);
  with_storage(storage, [&](auto type) {
    using T = decltype(type);
    dequantise_kernel<T><<<blocks, kThreads, 0, stream>>>(args, static_cast<T*>(weight), wide);
  });
  return cudaGetLastError();
}

}  // namespace headroom::kernels
