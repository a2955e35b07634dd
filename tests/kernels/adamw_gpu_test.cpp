// The AdamW kernel on a GPU. Exits with 77 where there is none.
#include <cstdio>

#include <c10/cuda/CUDAFunctions.h>

#include "tests/kernels/adamw_test_support.h"

int main() {
  using headroom::test::AdamWErrors;
  if (c10::cuda::device_count() == 0) {
    std::puts("no CUDA device: skipped");
    return 77;
  }
  constexpr double kFloor = 1e-6;
  int failures = 0;
  const auto check = [&](const char* what, double kernel, double torch, double floor) {
    if (kernel <= 2 * torch + floor) return;
    std::printf("  %s: error %.3g against PyTorch's %.3g\n", what, kernel, torch);
    ++failures;
  };
  for (const headroom::test::AdamWTypes& types : headroom::test::kAdamWTypes) {
    for (const std::int64_t n : {1, 7, 8, 255, 4096, 100'003, 4'194'304}) {
      for (const std::int64_t offset : {0, 1, 8}) {  // 1: no 16-byte loads
        std::printf("%s, %s, %s, n = %lld, offset %lld\n", c10::toString(types.param), c10::toString(types.gradient),
                    c10::toString(types.moment), static_cast<long long>(n), static_cast<long long>(offset));
        const AdamWErrors e = headroom::test::adamw_errors(n, offset, types, at::kCUDA);
        check("parameter", e.kernel_param, e.torch_param, headroom::test::adamw_floor(types));
        check("first moment", e.kernel_first, e.torch_first, kFloor);
        check("second moment", e.kernel_second, e.torch_second, kFloor);
      }
    }
  }
  if (!headroom::test::adamw_together_as_alone(at::kCUDA)) {
    std::puts("  many tensors at once differ from each by itself");
    ++failures;
  }
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
