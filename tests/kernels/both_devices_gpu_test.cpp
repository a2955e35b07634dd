// Kernels whose results from the same inputs must agree to the bit on CPU and GPU.
#include <cstdint>
#include <span>

#include "kernels/nf4/nf4_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/optimizer/adamw_tensors.h"
#include "tests/kernels/optimizer/update_counts.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("CPU and GPU give the same bits in AdamW for all controls and roundings") {
  const bool copy = GENERATE(false, true);
  const auto all = copy ? std::span<const tests::AdamWTypes>(tests::kAdamWCopyTypes) : tests::kAdamWTypes;
  const std::int64_t n = GENERATE(1, 7, 4099, 300'001);
  const std::int64_t offset = GENERATE(0, 1);
  const std::int64_t t = GENERATE(1, 1234);
  for (const tests::AdamWTypes& types : all) {
    CAPTURE(copy, n, offset, t, types.param, types.gradient, types.moment);
    const kernels::AdamWParameter cpu =
        copy ? tests::adamw_copy_tensors(n, offset, types, at::kCPU) : tests::adamw_tensors(n, offset, types, at::kCPU);
    const kernels::AdamWParameter gpu = copy ? tests::adamw_copy_tensors(n, offset, types, at::kCUDA)
                                             : tests::adamw_tensors(n, offset, types, at::kCUDA);
    kernels::AdamWControl on_cpu = tests::adamw_control(3, false, t, at::kCPU);
    kernels::AdamWControl on_gpu = tests::adamw_control(3, false, t, at::kCUDA);
    on_cpu.stochastic_rounding = on_gpu.stochastic_rounding = types.param != at::kHalf || copy;
    on_cpu.seed = on_gpu.seed = 17;
    kernels::adamw(std::span(&cpu, 1), tests::adamw_constants(1), on_cpu);
    kernels::adamw(std::span(&gpu, 1), tests::adamw_constants(1), on_gpu);
    CHECK(tests::same_bits(cpu, gpu));
  }
}

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

TEST_CASE("CPU and GPU give the same bits in NF4") {
  const std::int64_t n = GENERATE(1, 65, 16'385, 1'000'003);
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  CAPTURE(n, type);
  at::manual_seed(6);
  const at::Tensor weight = (at::randn({n}) * 0.03).to(type);
  const kernels::Nf4Matrix cpu = kernels::nf4_quantise(weight), gpu = kernels::nf4_quantise(weight.to(at::kCUDA));
  CHECK(gpu.codes.cpu().equal(cpu.codes));
  CHECK(gpu.absmax_codes.cpu().equal(cpu.absmax_codes));
  CHECK(tests::same_bits(gpu.absmax_scale.cpu(), cpu.absmax_scale));
  CHECK(tests::same_bits(gpu.absmax_mean.cpu(), cpu.absmax_mean));
  CHECK(tests::same_bits(kernels::nf4_dequantise(gpu, type).cpu(), kernels::nf4_dequantise(cpu, type)));
}
