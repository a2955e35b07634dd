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

HEADROOM_VECTOR_TARGETS double of_fp32(const CheckedTensor& tensor, std::int64_t begin, std::int64_t end) {
  return sum_of_squares<float>(tensor, begin, end);
}
HEADROOM_VECTOR_TARGETS double of_bf16(const CheckedTensor& tensor, std::int64_t begin, std::int64_t end) {
  return sum_of_squares<Bf16>(tensor, begin, end);
}
HEADROOM_VECTOR_TARGETS double of_fp16(const CheckedTensor& tensor, std::int64_t begin, std::int64_t end) {
  return sum_of_squares<Fp16>(tensor, begin, end);
}

}  // namespace

double sum_of_squares_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin, std::int64_t end) {
  switch (storage) {
    case Storage::kBf16:
      return of_bf16(tensor, begin, end);
    case Storage::kFp16:
      return of_fp16(tensor, begin, end);
    case Storage::kFp32:
      break;
  }
  return of_fp32(tensor, begin, end);
}

}  // namespace headroom::kernels
