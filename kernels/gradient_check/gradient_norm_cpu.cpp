// Sums of squares on the CPU, in fp64: a loop that the compiler vectorizes.
#include <cstdint>

#include "kernels/common/storage_cpu.h"
#include "kernels/gradient_check/gradient_norm.h"

namespace headroom::kernels {

namespace {

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

HEADROOM_VECTOR_TARGETS double sum_of_squares_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin,
                                                  std::int64_t end) {
  return with_storage(storage,
                      [&](auto type) HEADROOM_INLINED { return sum_of_squares<decltype(type)>(tensor, begin, end); });
}

}  // namespace headroom::kernels
