// Conversions of rows, compiled for several instruction sets.
#include "kernels/narrow_product/tile_rows.h"

#include "kernels/common/storage_cpu.h"

namespace headroom::kernels {

namespace {

template <typename T>
HEADROOM_INLINE void widen(const T* __restrict from, float* __restrict to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = load(from[i]);
}

template <typename T>
HEADROOM_INLINE void round(const float* __restrict sums, float alpha, bool adds, T* __restrict to, std::int64_t count) {
  if (adds)
    for (std::int64_t i = 0; i < count; ++i) store(to[i], load(to[i]) + alpha * sums[i]);
  else
    for (std::int64_t i = 0; i < count; ++i) store(to[i], alpha * sums[i]);
}

}  // namespace

HEADROOM_VECTOR_TARGETS void widen_row(const Bf16* from, float* to, std::int64_t count) { widen(from, to, count); }
HEADROOM_VECTOR_TARGETS void widen_row(const Fp16* from, float* to, std::int64_t count) { widen(from, to, count); }

HEADROOM_VECTOR_TARGETS void round_row(const float* sums, float alpha, bool adds, Bf16* to, std::int64_t count) {
  round(sums, alpha, adds, to, count);
}
HEADROOM_VECTOR_TARGETS void round_row(const float* sums, float alpha, bool adds, Fp16* to, std::int64_t count) {
  round(sums, alpha, adds, to, count);
}

}  // namespace headroom::kernels
