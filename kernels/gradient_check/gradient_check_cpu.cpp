// Search for inf and NaN on the CPU.
#include <cstdint>

#include "kernels/common/storage_cpu.h"
#include "kernels/gradient_check/gradient_check.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kChunk = 4096;  // elements between two tests of the result

template <typename Bits>
HEADROOM_INLINE bool all_finite(const CheckedTensor& tensor, Bits exponent, std::int64_t begin, std::int64_t end) {
  const Bits* __restrict bits = static_cast<const Bits*>(tensor.data);
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t until = end - i < kChunk ? end : i + kChunk;
    Bits found = 0;
    for (; i < until; ++i) found |= static_cast<Bits>((bits[i] & exponent) == exponent);
    if (found != 0) return false;
  }
  return true;
}

}  // namespace

HEADROOM_VECTOR_TARGETS bool all_finite_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin,
                                            std::int64_t end) {
  const std::uint32_t exponent = exponent_bits(storage);
  if (storage == Storage::kFp32) return all_finite<std::uint32_t>(tensor, exponent, begin, end);
  return all_finite<std::uint16_t>(tensor, static_cast<std::uint16_t>(exponent), begin, end);
}

}  // namespace headroom::kernels
