// Loads and stores in the storage format, 16 bytes at a time, and reductions over a warp.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/common/storage.h"

namespace headroom::kernels {

inline constexpr int kVectorBytes = 16;  // the widest load of one thread
inline constexpr int kWarp = 32;

__device__ __forceinline__ float load(float value) { return value; }
__device__ __forceinline__ float load(Bf16 value) { return __bfloat162float(__ushort_as_bfloat16(value.bits)); }
__device__ __forceinline__ float load(Fp16 value) { return __half2float(__ushort_as_half(value.bits)); }
__device__ __forceinline__ void store(float& place, float value) { place = value; }
__device__ __forceinline__ void store(Bf16& place, float value) {
  place.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}
__device__ __forceinline__ void store(Fp16& place, float value) {
  place.bits = __half_as_ushort(__float2half_rn(value));
}

// 16 bytes, moved by one load or store.
template <typename T>
struct alignas(kVectorBytes) Vector {
  static constexpr int kWidth = kVectorBytes / sizeof(T);
  T element[kWidth];
};

// For data not read again soon: bypasses the L1 cache and is evicted from L2 first.
template <typename T>
__device__ __forceinline__ Vector<T> load_streaming(const Vector<T>* place) {
  const int4 bits = __ldcs(reinterpret_cast<const int4*>(place));
  return *reinterpret_cast<const Vector<T>*>(&bits);
}
template <typename T>
__device__ __forceinline__ void store_streaming(Vector<T>* place, const Vector<T>& value) {
  __stcs(reinterpret_cast<int4*>(place), *reinterpret_cast<const int4*>(&value));
}

inline bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % kVectorBytes == 0; }

// Sum over a warp, in a fixed order, so two runs give the same bits.
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int lane = kWarp / 2; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  return value;
}
__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int lane = kWarp / 2; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lane));
  return value;
}

int multiprocessors();

}  // namespace headroom::kernels
