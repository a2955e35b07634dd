// Elements that a thread loads together.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/storage.cuh"

namespace headroom::kernels {

// N elements in pieces of 16 bytes, or in one piece of 8; a single element may be at any address.
template <typename T, int N>
struct PackLayout {
  static constexpr int kBytes = static_cast<int>(N * sizeof(T));
  static constexpr int kPieceBytes = N == 1 ? static_cast<int>(sizeof(T)) : kBytes < kVectorBytes ? 8 : kVectorBytes;
  static constexpr int kPieces = kBytes / kPieceBytes;
  static_assert(kPieces * kPieceBytes == kBytes);
};

template <typename T, int N>
struct alignas(PackLayout<T, N>::kPieceBytes) Pack {
  T element[N];
};

template <int N, typename T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* place) {
  using Layout = PackLayout<T, N>;
  Pack<T, N> pack;
  if constexpr (N == 1) {
    pack.element[0] = *place;
  } else {
    using Piece = std::conditional_t<Layout::kPieceBytes == 8, int2, int4>;
#pragma unroll
    for (int i = 0; i < Layout::kPieces; ++i) {
      reinterpret_cast<Piece*>(&pack)[i] = reinterpret_cast<const Piece*>(place)[i];
    }
  }
  return pack;
}

template <typename T, int N>
__device__ __forceinline__ void store_pack(T* place, const Pack<T, N>& pack) {
  using Layout = PackLayout<T, N>;
  if constexpr (N == 1) {
    *place = pack.element[0];
  } else {
    using Piece = std::conditional_t<Layout::kPieceBytes == 8, int2, int4>;
#pragma unroll
    for (int i = 0; i < Layout::kPieces; ++i) {
      reinterpret_cast<Piece*>(place)[i] = reinterpret_cast<const Piece*>(&pack)[i];
    }
  }
}

template <typename... T>
__host__ __device__ __forceinline__ bool aligned_all(const T*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) | ...) % kVectorBytes) == 0;
}

}  // namespace headroom::kernels
