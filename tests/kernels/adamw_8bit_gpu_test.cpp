// AdamW with 8-bit moments on a GPU.
#include "tests/kernels/adamw_8bit_checks.h"
#include "tests/kernels/adamw_test_support.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

using namespace headroom;

at::Device test::tested_device() { return at::kCUDA; }

TEST_CASE("CPU and GPU give the same bits in 8-bit AdamW") {
  const std::int64_t n = GENERATE(1, 257, 300'001);
  const std::int64_t offset = GENERATE(0, 1);
  for (const test::Weight8bitTypes& types : test::kWeight8bitTypes) {
    CAPTURE(n, offset, types.param, types.gradient, types.copy);
    const kernels::AdamW8bitParameter cpu = test::weight_8bit(n, offset, types, at::kCPU);
    const kernels::AdamW8bitParameter gpu = test::weight_8bit(n, offset, types, at::kCUDA);
    const bool stochastic = types.copy || types.param != at::kHalf;
    for (std::int64_t t = 1; t <= 3; ++t) {
      test::step_8bit(cpu, t, {.stochastic_rounding = stochastic});
      test::step_8bit(gpu, t, {.stochastic_rounding = stochastic});
    }
    CHECK(test::same_bits(cpu, gpu));
  }
}
