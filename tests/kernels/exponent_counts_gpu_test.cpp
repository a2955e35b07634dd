// Counting by exponent on a GPU.
#include "tests/kernels/exponent_counts_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("CPU and GPU count the same changes of any step") {
  const at::ScalarType weight = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  const at::ScalarType moment = GENERATE(at::kFloat, at::kBFloat16);
  const std::int64_t n = GENERATE(1, 4099, 3'000'001);
  CAPTURE(weight, moment, n);
  const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 2);
  const tests::UpdateCounts cpu = tests::update_counts(tests::random_change(n, weight, moment, at::kCPU), step);
  const tests::UpdateCounts gpu = tests::update_counts(tests::random_change(n, weight, moment, at::kCUDA), step);
  CHECK(gpu.updates == cpu.updates);
  CHECK(gpu.lost == cpu.lost);
}
