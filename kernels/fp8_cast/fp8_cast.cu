// Computes    c = e4m3(s · x) or e5m2(s · x), laid out like x, transposed, or both;  s = largest number of the format /
//             max |x|
// Shapes      x [R, C], contiguous; c [R, C], cᵀ [C, R] with any row stride; sides are multiples of 16
// Precision   fp32, bf16 or fp16 to 8 bits, nearest, ties to even; finite numbers saturate
// Memory      a cast reads each element once and writes one or two bytes; measuring reads each once more. Example:
//             4,096 × 2,048 in bf16, both layouts: 16.8e6 + 2 · 8.4e6 B, 7 µs at an H200's 4.8e12 B/s
// Variants    one: tiles of 64 × 64, a square of 4 × 4 per thread, transposed in registers and shared memory. A block
//             updates amax only with a larger value, since atomics on one address serialize
// Source      Micikevicius et al. 2022, arXiv:2209.05433, section 3; delayed scaling after NVIDIA Transformer Engine
// Checked by  tests/kernels/formats/fp8_cast_cases.cpp
#include <algorithm>

#include <cuda_fp8.h>

#include "kernels/common/pack.cuh"
#include "kernels/fp8_cast/fp8_cast.h"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;
constexpr int kTogether = 4;  // rows and columns per thread: 4 codes fill a word
constexpr int kAcross = kTile / kTogether;
static_assert(kAcross * kAcross == kThreads);
constexpr int kPitch = kAcross + 1;  // words per transposed row, without bank conflicts
constexpr int kLoadBytes = 16;       // per load of a measuring thread

// The hardware's conversion, except for infinity, which it would saturate.
template <Fp8Format kFormat>
__device__ __forceinline__ unsigned code_of(float value) {
  constexpr auto kKind = kFormat == Fp8Format::kE4m3 ? __NV_E4M3 : __NV_E5M2;
  if (!is_finite(value)) return fp8_code<kFormat>(value);
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, kKind);
}

// Raises scaling->amax, compared as integers, so NaN is above infinity. All threads must call this.
__device__ __forceinline__ void add_magnitude(unsigned bits, Fp8Scaling* scaling) {
  __shared__ unsigned of_warps[kThreads / kWarp];
  const unsigned of_warp = __reduce_max_sync(0xffffffffu, bits);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = of_warp;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned most = 0;
#pragma unroll
  for (int i = 0; i < kThreads / kWarp; ++i) most = max(most, of_warps[i]);
  auto* const place = reinterpret_cast<unsigned*>(&scaling->amax);
  if (most > *static_cast<volatile unsigned*>(place)) atomicMax(place, most);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) measure_kernel(const T* x, std::int64_t n, Fp8Scaling* scaling) {
  constexpr int kElements = kLoadBytes / sizeof(T);
  unsigned most = 0;
  const std::int64_t all = std::int64_t{gridDim.x} * kThreads * kElements;
  for (std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kElements; i < n; i += all) {
    const auto pack = load_pack<kElements>(x + i);
#pragma unroll
    for (int k = 0; k < kElements; ++k) most = max(most, bits_of(load(pack.element[k])) & 0x7fffffffu);
  }
  add_magnitude(most, scaling);
}

__global__ void choose_kernel(Fp8Scaling* scaling, float most, bool keeps, std::int32_t* not_scaled) {
  scaling->most = most;
  fp8_choose(*scaling, scaling->amax, not_scaled);
  if (!keeps) scaling->amax = 0.0f;
}

__global__ void advance_kernel(Fp8Scaling* scalings, std::int64_t count, std::int32_t* not_scaled) {
  // One thread suffices for hundreds of scalings, so counting needs no atomics.
  for (std::int64_t i = 0; i < count; ++i) fp8_advance(scalings[i], not_scaled);
}

// Four codes of a row, the first in the lowest byte; raises `most` to the largest magnitude.
template <Fp8Format kFormat, typename T>
__device__ __forceinline__ unsigned codes_of(const Pack<T, kTogether>& pack, float scale, unsigned& most) {
  unsigned word = 0;
#pragma unroll
  for (int k = 0; k < kTogether; ++k) {
    const float value = load(pack.element[k]);
    most = max(most, bits_of(value) & 0x7fffffffu);
    word |= code_of<kFormat>(value * scale) << (8 * k);
  }
  return word;
}

// Transposes 4 × 4 bytes.
__device__ __forceinline__ void turn(unsigned (&words)[kTogether]) {
  const unsigned low01 = __byte_perm(words[0], words[1], 0x5140), low23 = __byte_perm(words[2], words[3], 0x5140),
                 high01 = __byte_perm(words[0], words[1], 0x7362), high23 = __byte_perm(words[2], words[3], 0x7362);
  words[0] = __byte_perm(low01, low23, 0x5410);
  words[1] = __byte_perm(low01, low23, 0x7632);
  words[2] = __byte_perm(high01, high23, 0x5410);
  words[3] = __byte_perm(high01, high23, 0x7632);
}

template <typename T, Fp8Format kFormat>
__global__ void __launch_bounds__(kThreads) cast_kernel(const Fp8CastArgs args) {
  __shared__ unsigned turned[kTile][kPitch];
  const auto* const x = static_cast<const T*>(args.x);
  const float scale = args.scaling->scale;
  const int across = static_cast<int>(threadIdx.x) % kAcross, down = static_cast<int>(threadIdx.x) / kAcross;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kTile, first_column = std::int64_t{blockIdx.x} * kTile;
  const std::int64_t row = first_row + kTogether * down, column = first_column + kTogether * across;
  unsigned most = 0, words[kTogether] = {};
  if (row < args.rows && column < args.columns) {
    Pack<T, kTogether> packs[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) packs[i] = load_pack<kTogether>(x + (row + i) * args.columns + column);
#pragma unroll
    for (int i = 0; i < kTogether; ++i) words[i] = codes_of<kFormat>(packs[i], scale, most);
    if (args.codes != nullptr) {
#pragma unroll
      for (int i = 0; i < kTogether; ++i)
        *reinterpret_cast<unsigned*>(args.codes + (row + i) * args.columns + column) = words[i];
    }
  }
  if (args.measures) add_magnitude(most, args.scaling);
  if (args.transposed == nullptr) return;
  turn(words);
#pragma unroll
  for (int i = 0; i < kTogether; ++i) turned[kTogether * across + i][down] = words[i];
  __syncthreads();
#pragma unroll
  for (int i = down; i < kTile; i += kAcross) {
    const std::int64_t to_row = first_column + i, to_column = first_row + kTogether * across;
    if (to_row >= args.columns || to_column >= args.rows) continue;
    *reinterpret_cast<unsigned*>(args.transposed + to_row * args.transposed_stride + to_column) = turned[i][across];
  }
}

template <typename T>
void cast(const Fp8CastArgs& args, dim3 blocks, CUstream_st* stream) {
  if (args.format == Fp8Format::kE4m3) {
    cast_kernel<T, Fp8Format::kE4m3><<<blocks, kThreads, 0, stream>>>(args);
  } else {
    cast_kernel<T, Fp8Format::kE5m2><<<blocks, kThreads, 0, stream>>>(args);
  }
}

}  // namespace

int fp8_measure_cuda(const void* x, Storage storage, std::int64_t n, Fp8Format format, Fp8Scaling* scaling, bool keeps,
                     std::int32_t* not_scaled, CUstream_st* stream) {
  constexpr std::int64_t kBlocksEach = 8;
  with_storage(storage, [&](auto type) {
    using T = decltype(type);
    constexpr std::int64_t kOfBlock = kThreads * kLoadBytes / sizeof(T);
    const std::int64_t needed = (n + kOfBlock - 1) / kOfBlock;
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(needed, kBlocksEach * multiprocessors()));
    measure_kernel<T><<<blocks, kThreads, 0, stream>>>(static_cast<const T*>(x), n, scaling);
  });
  choose_kernel<<<1, 1, 0, stream>>>(scaling, fp8_most(format), keeps, not_scaled);
  return cudaGetLastError();
}

int fp8_cast_cuda(const Fp8CastArgs& args, CUstream_st* stream) {
  const auto tiles = [](std::int64_t side) { return static_cast<unsigned>((side + kTile - 1) / kTile); };
  const dim3 blocks(tiles(args.columns), tiles(args.rows));
  with_storage(args.storage, [&](auto type) { cast<decltype(type)>(args, blocks, stream); });
  return cudaGetLastError();
}

int fp8_advance_cuda(Fp8Scaling* scalings, std::int64_t count, std::int32_t* not_scaled, CUstream_st* stream) {
  advance_kernel<<<1, 1, 0, stream>>>(scalings, count, not_scaled);
  return cudaGetLastError();
}

}  // namespace headroom::kernels
