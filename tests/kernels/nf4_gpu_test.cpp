// NF4 on a GPU.
#include "kernels/nf4/nf4_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

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
