// 16 bytes of elements as loaded, unpacked only when needed, since as fp32 they take twice the registers.
#pragma once

#include "kernels/common/storage.cuh"

namespace headroom::kernels {

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

// Makes the bits opaque to the compiler, which would otherwise keep the unpacked numbers.
__device__ __forceinline__ void keep_packed(uint4& bits) {
  asm volatile("" : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w));
}

}  // namespace headroom::kernels
