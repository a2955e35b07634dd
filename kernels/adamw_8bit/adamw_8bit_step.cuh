// A warp's step over one block of 256 elements, for adamw_8bit.cu; codes come from dynamic_cells.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/adamw/adamw_math.h"
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/common/dynamic_cells.h"
#include "kernels/common/dynamic_code.h"
#include "kernels/common/numbers.cuh"
#include "kernels/common/pack.cuh"

namespace headroom::kernels::adamw_8bit_step {

constexpr int kPack = 8;  // elements per lane
static_assert(kPack * kWarp == kQuantisedBlock);

// Both maps in shared memory. Lane l reads copy l mod kCopies of a value; with 32 copies no two lanes share a bank.
template <int kCopies>
struct Maps {
  DynamicCells first_cells, second_cells;
  float first_value[256][kCopies], second_value[256][kCopies];

  // All threads of the block call this, then synchronize.
  __device__ void fill(const DynamicMap& first, const DynamicMap& second, const DynamicCells& of_first,
                       const DynamicCells& of_second) {
    for (int i = threadIdx.x; i < 256 * kCopies; i += blockDim.x) {
      first_value[i / kCopies][i % kCopies] = first.value[i / kCopies];
      second_value[i / kCopies][i % kCopies] = second.value[i / kCopies];
    }
    constexpr int kVectors = sizeof(DynamicCells) / sizeof(uint4);
    for (int i = threadIdx.x; i < kVectors; i += blockDim.x) {
      reinterpret_cast<uint4*>(&first_cells)[i] = reinterpret_cast<const uint4*>(&of_first)[i];
      reinterpret_cast<uint4*>(&second_cells)[i] = reinterpret_cast<const uint4*>(&of_second)[i];
    }
  }
};

// Value of the code in byte `k` of a word; `lane_bytes` is the offset of the lane's copy.
template <int kCopies>
__device__ __forceinline__ float value_of(const float (&values)[256][kCopies], std::uint32_t word, int k,
                                          int lane_bytes) {
  constexpr int kShift = kCopies == 32 ? 7 : 5;
  static_assert(kCopies * 4 == 1 << kShift);
  const std::uint32_t moved = 8 * k >= kShift ? word >> (8 * k - kShift) : word << (kShift - 8 * k);
  const std::uint32_t place = (moved & (0xffu << kShift)) | static_cast<std::uint32_t>(lane_bytes);
  return *reinterpret_cast<const float*>(reinterpret_cast<const char*>(&values) + place);
}

// A lane's eight elements: 16-byte aligned neighbors (kWhole), or every 32nd element of the block, possibly fewer.
template <bool kWhole>
struct Place {
  std::int64_t first;  // the block's first element
  std::int64_t n;
  int lane;

  __device__ __forceinline__ std::int64_t index(int k) const {
    return first + (kWhole ? lane * kPack + k : k * kWarp + lane);
  }
  // Loads zeros past the tensor's end.
  template <typename T>
  __device__ __forceinline__ Pack<T, kPack> load(const T* array) const {
    if constexpr (kWhole) return load_pack<kPack>(array + index(0));
    Pack<T, kPack> pack{};
#pragma unroll
    for (int k = 0; k < kPack; ++k) {
      if (index(k) < n) pack.element[k] = array[index(k)];
    }
    return pack;
  }
  template <typename T>
  __device__ __forceinline__ void store(T* array, const Pack<T, kPack>& pack) const {
    if constexpr (kWhole) {
      store_pack(array + index(0), pack);
    } else {
#pragma unroll
      for (int k = 0; k < kPack; ++k) {
        if (index(k) < n) array[index(k)] = pack.element[k];
      }
    }
  }
  template <typename T, typename Words>
  __device__ __forceinline__ void load_words(const void* array, Words& words) const {
    const Pack<T, kPack> pack = load(static_cast<const T*>(array));
    static_assert(sizeof(words) == sizeof(pack));
    std::memcpy(&words, &pack, sizeof(pack));
  }
  template <typename T, typename Words>
  __device__ __forceinline__ void store_words(void* array, const Words& words) const {
    Pack<T, kPack> pack;
    static_assert(sizeof(words) == sizeof(pack));
    std::memcpy(&pack, &words, sizeof(pack));
    store(static_cast<T*>(array), pack);
  }
};

// A lane's part of a block, packed as in memory.
template <typename P, typename G>
struct Packed {
  uint4 p[kPack / kElements<P>], g[kPack / kElements<G>];
  uint2 m_codes, v_codes;
  float m_absmax, v_absmax;

  template <bool kWhole>
  __device__ __forceinline__ void load(const AdamW8bitTensor& tensor, const Place<kWhole>& place) {
    const std::int64_t block = place.first / kQuantisedBlock;
    place.template load_words<P>(tensor.param, p);
    place.template load_words<G>(tensor.gradient, g);
    place.template load_words<std::uint8_t>(tensor.m_codes, m_codes);
    place.template load_words<std::uint8_t>(tensor.v_codes, v_codes);
    m_absmax = tensor.m_absmax[block];
    v_absmax = tensor.v_absmax[block];
  }
};

// Unlike the codes, the parameter need not match the CPU's bits: root and quotient may be two ulp off, numbers below
// 2^−126 count as 0, and an FMA rounds only once. About once in ten thousand times, a bf16 or fp16 parameter rounds to
// the other neighbor.
__device__ __forceinline__ float quick_step(float param, float m, float v, const AdamWStep& step) {
  float root, inverse;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(fmaf(root, step.second_moment_scale, step.epsilon)));
  return fmaf(step.decay, param, -(step.step_size * m * inverse));
}

template <typename P, typename W, bool kWhole>
__device__ __forceinline__ void store_params(const AdamW8bitTensor& tensor, const Place<kWhole>& place,
                                             const AdamWShared& shared, const float (&moved)[kPack]) {
  if constexpr (!std::is_same_v<W, NoCopy>) {
    Pack<W, kPack> w;
#pragma unroll
    for (int k = 0; k < kPack; ++k) store(w.element[k], moved[k]);
    place.store(static_cast<W*>(tensor.working), w);
  }
  if constexpr (std::is_same_v<P, Bf16>) {
    if (shared.stochastic) {
      Pack<P, kPack> p;
#pragma unroll
      for (int k = 0; k < kPack; ++k) {
        const std::int64_t i = place.index(k);
        const std::uint32_t random = rounding_bits(shared.key, i / 2) >> (static_cast<int>(i % 2) * 16);
        p.element[k].bits = rounded_stochastically(moved[k], random & 0xffffu);
      }
      place.store(static_cast<P*>(tensor.param), p);
      return;
    }
  }
  constexpr int kEach = kElements<P>;
  uint4 words[kPack / kEach];
#pragma unroll
  for (int i = 0; i < kPack / kEach; ++i) {
    Numbers<P> numbers;
#pragma unroll
    for (int e = 0; e < kEach; ++e) numbers.at[e] = moved[i * kEach + e];
    words[i] = numbers.packed();
  }
  place.template store_words<P>(tensor.param, words);
}

// Moments and codes match the CPU's bits: no contraction, and codes as from dynamic_code().
template <typename P, typename G, typename W, int kCopies, bool kWhole>
__device__ __forceinline__ void step_block(const AdamW8bitTensor& tensor, const Packed<P, G>& packed,
                                           const Place<kWhole>& place, const AdamWShared& shared,
                                           const Maps<kCopies>& maps) {
  const int lane_bytes = place.lane % kCopies * 4;
  float m[kPack], v[kPack], moved[kPack];
  unsigned m_largest = 0, v_largest = 0;  // integers, so inf and NaN are the largest
#pragma unroll
  for (int k = 0; k < kPack; ++k) {
    const std::uint32_t m_word = k < 4 ? packed.m_codes.x : packed.m_codes.y;
    const std::uint32_t v_word = k < 4 ? packed.v_codes.x : packed.v_codes.y;
    m[k] = value_of<kCopies>(maps.first_value, m_word, k % 4, lane_bytes) * packed.m_absmax;
    v[k] = value_of<kCopies>(maps.second_value, v_word, k % 4, lane_bytes) * packed.v_absmax;
    const float g = Numbers<G>(packed.g[k / kElements<G>]).at[k % kElements<G>];
    const float param = Numbers<P>(packed.p[k / kElements<P>]).at[k % kElements<P>];
    adamw_moments(g * shared.gradient_scale, m[k], v[k], shared.step);
    moved[k] = quick_step(param, m[k], v[k], shared.step);
    if (!kWhole && place.index(k) >= place.n) m[k] = v[k] = 0.0f;  // would be NaN if the absmax is NaN or inf
    m_largest = max(m_largest, bits_of(m[k]) & 0x7fffffffu);
    v_largest = max(v_largest, bits_of(v[k]));  // never negative, except for NaN
  }
  store_params<P, W>(tensor, place, shared, moved);
  const float m_new = float_of(__reduce_max_sync(0xffffffffu, m_largest));
  const float v_new = float_of(__reduce_max_sync(0xffffffffu, v_largest) & 0x7fffffffu);
  const float m_inverse = inverse_absmax(m_new);
  float v_inverse = inverse_absmax(v_new);
  if (!(v_new < INFINITY)) {  // so the inverse is 0; NaN and inf get the code of 1, other numbers that of 0
    v_inverse = 1;
#pragma unroll
    for (float& value : v) value = value < INFINITY ? 0.0f : 1.0f;
  }
  const uint2 m_codes{signed_codes(m, m_inverse, maps.first_cells), signed_codes(m + 4, m_inverse, maps.first_cells)};
  const uint2 v_codes{unsigned_codes(v, v_inverse, maps.second_cells),
                      unsigned_codes(v + 4, v_inverse, maps.second_cells)};
  place.template store_words<std::uint8_t>(tensor.m_codes, m_codes);
  place.template store_words<std::uint8_t>(tensor.v_codes, v_codes);
  if (place.lane == 0) {
    const std::int64_t block = place.first / kQuantisedBlock;
    tensor.m_absmax[block] = m_new;
    tensor.v_absmax[block] = v_new;
  }
}

}  // namespace headroom::kernels::adamw_8bit_step
