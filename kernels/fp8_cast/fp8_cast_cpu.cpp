// Casts to fp8 on the CPU, with integers.
#include <algorithm>
#include <cstdint>

#include "kernels/common/storage_cpu.h"
#include "kernels/fp8_cast/fp8_cast.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kTile = 64;  // codes of a row transposed together, in the L1 cache

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

}  // namespace

HEADROOM_VECTOR_TARGETS float fp8_amax_cpu(const void* x, Storage storage, std::int64_t begin, std::int64_t end) {
  return with_storage(storage, [&](auto type) HEADROOM_INLINED {
    return absmax_of(static_cast<const decltype(type)*>(x) + begin, end - begin);
  });
}

HEADROOM_VECTOR_TARGETS void fp8_cast_cpu(const Fp8CastArgs& args, std::int64_t begin, std::int64_t end) {
  with_storage(args.storage, [&](auto type) HEADROOM_INLINED {
    using T = decltype(type);
    args.format == Fp8Format::kE4m3 ? cast<T, Fp8Format::kE4m3>(args, begin, end)
                                    : cast<T, Fp8Format::kE5m2>(args, begin, end);
  });
}

}  // namespace headroom::kernels
