// 8-bit AdamW on a GPU.
#include "tests/kernels/adamw_8bit_checks.h"
#include "tests/kernels/adamw_test_support.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("CPU and GPU give the same codes in 8-bit AdamW, and the same parameters up to the last place") {
  const std::int64_t n = GENERATE(1, 257, 300'001);
  const std::int64_t offset = GENERATE(0, 1);
  for (const tests::Weight8bitTypes& types : tests::kWeight8bitTypes) {
    CAPTURE(n, offset, types.param, types.gradient, types.copy);
    const kernels::AdamW8bitParameter cpu = tests::weight_8bit(n, offset, types, at::kCPU);
    const kernels::AdamW8bitParameter gpu = tests::weight_8bit(n, offset, types, at::kCUDA);
    const bool stochastic = types.copy || types.param != at::kHalf;
    for (std::int64_t t = 1; t <= 3; ++t) {
      tests::step_8bit(cpu, t, {.stochastic_rounding = stochastic});
      tests::step_8bit(gpu, t, {.stochastic_rounding = stochastic});
    }
    CHECK(gpu.m_codes.cpu().equal(cpu.m_codes));
    CHECK(gpu.v_codes.cpu().equal(cpu.v_codes));
    CHECK(tests::same_bits(gpu.m_absmax.cpu(), cpu.m_absmax));
    CHECK(tests::same_bits(gpu.v_absmax.cpu(), cpu.v_absmax));
    const at::Tensor p = gpu.param.cpu().to(at::kDouble), q = cpu.param.to(at::kDouble);
    const bool narrow = cpu.param.scalar_type() != at::kFloat;
    CHECK(at::allclose(p, q, narrow ? 0x1p-6 : 1e-6, 1e-7));
    if (narrow) CHECK((p - q).abs().gt(1e-6).sum().item<std::int64_t>() <= n / 100);
  }
}
