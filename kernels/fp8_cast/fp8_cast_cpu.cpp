// Casts to fp8 on the CPU, with integers.
#include <algorithm>
#include <cstdint>

#include "kernels/common/storage_cpu.h"
#include "kernels/fp8_cast/fp8_cast.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kTile = 64;  // codes transposed together, in the L1 cache

template <typename T>
HEADROOM_INLINE float amax_of(const T* x, std::int64_t begin, std::int64_t end) {
  std::uint32_t most = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint32_t magnitude = bits_of(load(x[i])) & 0x7fffffffu;
    most = magnitude > most ? magnitude : most;
  }
  return float_of(most);
}

template <typename T, Fp8Format kFormat>
HEADROOM_INLINE void cast(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end) {
  const auto* const x = static_cast<const T*>(args.x);
  const float scale = args.scaling->scale;
  std::uint8_t row[kTile];
  for (std::int64_t first = 0; first < args.columns; first += kTile) {
    const std::int64_t count = std::min(kTile, args.columns - first);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = x + i * args.columns + first;
      for (std::int64_t j = 0; j < count; ++j) row[j] = fp8_code<kFormat>(load(from[j]) * scale);
      if (args.codes != nullptr) std::copy_n(row, count, args.codes + i * args.columns + first);
      if (args.transposed == nullptr) continue;
      for (std::int64_t j = 0; j < count; ++j) args.transposed[(first + j) * args.transposed_stride + i] = row[j];
    }
  }
}

template <typename T>
HEADROOM_INLINE void cast_to(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end) {
  if (args.format == Fp8Format::kE4m3) return cast<T, Fp8Format::kE4m3>(args, begin, end);
  cast<T, Fp8Format::kE5m2>(args, begin, end);
}

HEADROOM_VECTOR_TARGETS float amax_fp32(const void* x, std::int64_t begin, std::int64_t end) {
  return amax_of(static_cast<const float*>(x), begin, end);
}
HEADROOM_VECTOR_TARGETS float amax_bf16(const void* x, std::int64_t begin, std::int64_t end) {
  return amax_of(static_cast<const Bf16*>(x), begin, end);
}
HEADROOM_VECTOR_TARGETS float amax_fp16(const void* x, std::int64_t begin, std::int64_t end) {
  return amax_of(static_cast<const Fp16*>(x), begin, end);
}
HEADROOM_VECTOR_TARGETS void cast_fp32(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end) {
  cast_to<float>(args, begin, end);
}
HEADROOM_VECTOR_TARGETS void cast_bf16(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end) {
  cast_to<Bf16>(args, begin, end);
}
HEADROOM_VECTOR_TARGETS void cast_fp16(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end) {
  cast_to<Fp16>(args, begin, end);
}

}  // namespace

float fp8_amax_cpu(const void* x, Storage storage, std::int64_t begin, std::int64_t end) {
  if (storage == Storage::kFp32) return amax_fp32(x, begin, end);
  return storage == Storage::kBf16 ? amax_bf16(x, begin, end) : amax_fp16(x, begin, end);
}

void fp8_cast_cpu(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end) {
  if (args.storage == Storage::kFp32) return cast_fp32(args, begin, end);
  if (args.storage == Storage::kBf16) return cast_bf16(args, begin, end);
  cast_fp16(args, begin, end);
}

}  // namespace headroom::kernels
