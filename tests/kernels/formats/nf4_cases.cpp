// NF4 on any device.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "kernels/nf4/nf4_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

at::Tensor random_weight(at::IntArrayRef shape, at::ScalarType type, std::int64_t offset = 0) {
  at::manual_seed(4);
  return tests::random_at(shape, 0.02, offset, type, tests::tested_device());
}

at::Tensor there_and_back(const at::Tensor& weight) {
  return kernels::nf4_dequantise(kernels::nf4_quantise(weight), at::kFloat);
}

}  // namespace

TEST_CASE("weights equal to levels survive a round trip, two per byte, the first in the high half") {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.push_back(kernels::kNf4Levels[(i * 7 + 15) % 16]);
  const at::Tensor weight = at::tensor(values).to(tests::tested_device());
  const kernels::Nf4Matrix matrix = kernels::nf4_quantise(weight);
  CHECK(kernels::nf4_dequantise(matrix, at::kFloat).equal(weight));
  const at::Tensor codes = matrix.codes.cpu();
  for (int i = 0; i < 32; ++i) {
    const int high = (2 * i * 7 + 15) % 16, low = ((2 * i + 1) * 7 + 15) % 16;
    CHECK(int{codes[i].item<std::uint8_t>()} == high * 16 + low);
  }
}

TEST_CASE("NF4 of a weight equals float64's, except for ties") {
  const std::int64_t n = GENERATE(1, 7, 63, 64, 65, 1001, 64 * 256, 50'003);
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  const std::int64_t offset = GENERATE(0, 1);  // 1: no 16-byte loads
  CAPTURE(n, type, offset);
  const at::Tensor weight = random_weight({n}, type, offset);
  const at::Tensor exact = kernels::nf4_reference(weight), ours = there_and_back(weight).cpu().to(at::kDouble);
  const at::Tensor apart = (ours - exact).abs() > 1e-6 * weight.abs().max().cpu().to(at::kDouble);
  // fp32 decides near-ties between levels differently, with a similar error.
  CHECK(apart.sum().item<std::int64_t>() <= n / 1000);
  const at::Tensor w = weight.cpu().to(at::kDouble);
  const at::Tensor worse = (ours - w).abs() - (exact - w).abs();
  CHECK(worse.max().item<double>() <= 2e-6 * w.abs().max().item<double>());
}

TEST_CASE("NF4 of normal weights has an error of a tenth of their deviation") {
  const at::Tensor weight = random_weight({512, 1024}, at::kBFloat16);
  const at::Tensor error = there_and_back(weight) - weight.to(at::kFloat);
  const double relative = (error.square().mean().sqrt() / weight.to(at::kFloat).std()).item<double>();
  CHECK(relative == Approx(0.095).margin(0.005));
}

TEST_CASE("NF4's 16-bit weights are the rounded fp32 ones") {
  const at::ScalarType type = GENERATE(at::kBFloat16, at::kHalf);
  const std::int64_t n = GENERATE(1, 9, 1000, 70'001);
  const kernels::Nf4Matrix matrix = kernels::nf4_quantise(random_weight({n}, at::kFloat));
  CHECK(tests::same_bits(kernels::nf4_dequantise(matrix, type), kernels::nf4_dequantise(matrix, at::kFloat).to(type)));
}

TEST_CASE("NF4 keeps the shape and takes nf4_bytes()") {
  const kernels::Nf4Matrix matrix = kernels::nf4_quantise(random_weight({96, 176}, at::kBFloat16));
  CHECK(kernels::nf4_dequantise(matrix, at::kBFloat16).sizes() == at::IntArrayRef{96, 176});
  const std::size_t bytes =
      matrix.codes.nbytes() + matrix.absmax_codes.nbytes() + matrix.absmax_scale.nbytes() + matrix.absmax_mean.nbytes();
  CHECK(static_cast<std::int64_t>(bytes) == kernels::nf4_bytes(96 * 176));
}

TEST_CASE("unaligned codes are read one by one") {
  const kernels::Nf4Matrix matrix = kernels::nf4_quantise(random_weight({1000}, at::kFloat));
  kernels::Nf4Matrix shifted = matrix;
  const at::Tensor storage = at::empty({501}, matrix.codes.options());
  shifted.codes = storage.narrow(0, 1, 500);
  shifted.codes.copy_(matrix.codes);
  CHECK(kernels::nf4_dequantise(shifted, at::kFloat).equal(kernels::nf4_dequantise(matrix, at::kFloat)));
}

TEST_CASE("zeros stay zeros in NF4, and inf or NaN leaves nothing finite") {
  at::Tensor weight = at::zeros({200, 64}, at::TensorOptions().device(tests::tested_device()));
  CHECK(there_and_back(weight).eq(0).all().item<bool>());
  weight.add_(0.5);
  weight[3][5] = GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
  CHECK_FALSE(there_and_back(weight).isfinite().any().item<bool>());
}

TEST_CASE("double quantization applies the dynamic map to absmax minus its mean") {
  const at::Tensor weight = random_weight({40'000}, at::kFloat);
  const kernels::Nf4Matrix matrix = kernels::nf4_quantise(weight);
  const at::Tensor absmax = weight.cpu().view({625, 64}).abs().amax(1);
  CHECK(matrix.absmax_mean.item<float>() == Approx(absmax.to(at::kDouble).mean().item<double>()).epsilon(1e-7));
  const kernels::BlockQuantised expected =
      kernels::quantise_blockwise(absmax - matrix.absmax_mean.cpu(), /*is_signed=*/true);
  CHECK(matrix.absmax_codes.cpu().equal(expected.codes));
  CHECK(matrix.absmax_scale.cpu().equal(expected.absmax));
}
