// Search for inf and NaN, and sums of squares in fp64, on the CPU.
#include <cstdint>

#include "kernels/common/storage_cpu.h"
#include "kernels/gradient_check/gradient_norm.h"

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

template <typename T>
HEADROOM_INLINE double sum_of_squares(const CheckedTensor& tensor, std::int64_t begin, std::int64_t end) {
  const T* __restrict values = static_cast<const T*>(tensor.data);
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = begin; i < end; ++i) {
    const auto value = static_cast<double>(load(values[i]));
    sum += value * value;
  }
  return sum;
}

}  // namespace

HEADROOM_VECTOR_TARGETS bool all_finite_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin,
                                            std::int64_t end) {
  const std::uint32_t exponent = exponent_bits(storage);
  if (storage == Storage::kFp32) return all_finite<std::uint32_t>(tensor, exponent, begin, end);
  return all_finite<std::uint16_t>(tensor, static_cast<std::uint16_t>(exponent), begin, end);
}

HEADROOM_VECTOR_TARGETS double sum_of_squares_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin,
                                                  std::int64_t end) {
  return with_storage(storage,
                      [&](auto type) HEADROOM_INLINED { return sum_of_squares<decltype(type)>(tensor, begin, end); });
}

}  // namespace headroom::kernels
