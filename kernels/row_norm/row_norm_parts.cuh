// What the forward and the backward kernels of the norms of rows share: how a row is spread over threads, and its numbers.
//
// A row belongs to a group of threads, threadIdx.y of a block, and 16-byte vector v of thread t is vector
// v · blockDim.x + t of the row, in every row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/storage.cuh"
#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels::row_norm {

constexpr int kBlockThreads = 512;  // at most, in any block
constexpr int kMostGroups = 15;     // a block has 16 barriers: one each, and that of __syncthreads

// How a pass is cut: `block.x` threads per row, `block.y` rows per block.
inline dim3 cut(std::int64_t row_vectors, int vectors_a_thread, int block_threads) {
  const std::int64_t threads = (row_vectors + vectors_a_thread - 1) / vectors_a_thread;
  const int row_threads = static_cast<int>((threads + kWarp - 1) / kWarp * kWarp);
  return dim3(row_threads, std::clamp(block_threads / row_threads, 1, kMostGroups));
}
inline unsigned blocks_for(std::int64_t rows, dim3 block) {
  return static_cast<unsigned>((rows + block.y - 1) / block.y);
}

// Barrier 0 is that of the whole block: a group that still works must not meet others there.
__device__ __forceinline__ void group_barrier() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
}

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

}  // namespace headroom::kernels::row_norm
