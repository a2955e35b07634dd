// Elements that a thread takes together: 16 bytes at a time whatever the width of an element, or a single one.
#pragma once

#include "kernels/storage.cuh"

namespace headroom::kernels {

// N elements in whole 16-byte pieces, or, with N = 1, one element wherever it lies.
template <typename T, int N>
struct alignas(N == 1 ? sizeof(T) : kVectorBytes) Pack {
  static_assert(N == 1 || N * sizeof(T) % kVectorBytes == 0);
  static constexpr int kPieces = static_cast<int>(N * sizeof(T)) / kVectorBytes;
  T element[N];
};

template <int N, typename T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* place) {
  Pack<T, N> pack;
  if constexpr (N == 1) {
    pack.element[0] = *place;
  } else {
#pragma unroll
    for (int i = 0; i < Pack<T, N>::kPieces; ++i) {
      reinterpret_cast<int4*>(&pack)[i] = reinterpret_cast<const int4*>(place)[i];
    }
  }
  return pack;
}

// Of memory that nobody reads again soon: past the L1 cache, first to leave the L2.
template <int N, typename T>
__device__ __forceinline__ Pack<T, N> load_pack_streaming(const T* place) {
  Pack<T, N> pack;
  if constexpr (N == 1) {
    pack.element[0] = *place;
  } else {
#pragma unroll
    for (int i = 0; i < Pack<T, N>::kPieces; ++i) {
      reinterpret_cast<int4*>(&pack)[i] = __ldcs(reinterpret_cast<const int4*>(place) + i);
    }
  }
  return pack;
}

template <typename T, int N>
__device__ __forceinline__ void store_pack(T* place, const Pack<T, N>& pack) {
  if constexpr (N == 1) {
    *place = pack.element[0];
  } else {
#pragma unroll
    for (int i = 0; i < Pack<T, N>::kPieces; ++i) {
      reinterpret_cast<int4*>(place)[i] = reinterpret_cast<const int4*>(&pack)[i];
    }
  }
}

template <typename T, int N>
__device__ __forceinline__ void store_pack_streaming(T* place, const Pack<T, N>& pack) {
  if constexpr (N == 1) {
    *place = pack.element[0];
  } else {
#pragma unroll
    for (int i = 0; i < Pack<T, N>::kPieces; ++i) {
      __stcs(reinterpret_cast<int4*>(place) + i, reinterpret_cast<const int4*>(&pack)[i]);
    }
  }
}

// Whether all are on 16 bytes.
template <typename... T>
__host__ __device__ __forceinline__ bool aligned_all(const T*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) | ...) % kVectorBytes) == 0;
}

}  // namespace headroom::kernels
