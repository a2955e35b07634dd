// fp8 GEMMs on the CPU, on tensor cores and emulated, against float64.
#include <utility>

#include "kernels/narrow_product/narrow_product_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("an fp8 GEMM equals the product of its codes' numbers, rounded once to bf16") {
  using kernels::Fp8Format;
  const auto [of_a, of_b] =
      GENERATE(std::pair(Fp8Format::kE4m3, Fp8Format::kE4m3), std::pair(Fp8Format::kE5m2, Fp8Format::kE4m3),
               std::pair(Fp8Format::kE4m3, Fp8Format::kE5m2));
  const bool adds = GENERATE(false, true), fast_sums = GENERATE(false, true);
  at::manual_seed(4);
  const at::Device device = tests::tested_device();
  const at::Tensor a = at::randn({528, 544}).to(device), b = (at::randn({32, 544}) * 1e-3).to(device);
  const at::Tensor count = at::zeros({1}, at::TensorOptions(device).dtype(at::kInt));
  const at::Tensor scalings = kernels::fp8_scalings(2, at::TensorOptions(device));
  const auto cast = [&](const at::Tensor& x, Fp8Format format, int row) {
    kernels::fp8_measure_(x, scalings[row], format, /*keeps=*/false, count);
    return kernels::fp8_cast(x, scalings[row], format, {.rows = true}).rows;
  };
  const at::Tensor a8 = cast(a, of_a, 0), b8 = cast(b, of_b, 1);
  const at::Tensor before = at::randn({528, 32}).to(at::kBFloat16).to(device);
  at::Tensor result = before.clone();
  kernels::fp8_product(result, {a8, scalings[0]}, {b8, scalings[1]}, {.adds = adds, .fast_sums = fast_sums});
  const double scale =
      1.0 / scalings[0][kernels::kFp8Scale].item<float>() / scalings[1][kernels::kFp8Scale].item<float>();
  const at::Tensor product = at::mm(kernels::fp8_numbers(a8), kernels::fp8_numbers(b8).t()) * scale;
  const at::Tensor exact = adds ? product + before.cpu().to(at::kDouble) : product;
  // bf16 has 8 digits. Hopper's tensor cores keep 14 bits of a partial sum. They add it in fp32 after each 32 terms, or
  // with fast sums only after all 17 times 32 terms.
  const at::Tensor terms = at::mm(kernels::fp8_numbers(a8).abs(), kernels::fp8_numbers(b8).abs().t()) * scale;
  const bool fp32_sums = !result.is_cuda() || kernels::products_emulated(kernels::NarrowFormat::kFp8);
  const double kept = fp32_sums ? 0x1p-20 : fast_sums ? 0x1p-9 : 0x1p-12;
  at::Tensor rounding = exact.abs() * 0x1p-8;
  if (adds && result.is_cuda()) rounding += product.abs() * 0x1p-8;  // cuBLASLt rounds before it adds
  const at::Tensor beyond = (result.cpu().to(at::kDouble) - exact).abs() - rounding;
  INFO("format of a " << static_cast<int>(of_a) << ", of b " << static_cast<int>(of_b) << ", adds " << adds
                      << ", fast sums " << fast_sums);
  CHECK((beyond / terms).max().item<double>() <= kept);
  if (!adds) CHECK(tests::relative_error(result, at::mm(a.to(at::kDouble), b.to(at::kDouble).t())) < 0.1);
}

TEST_CASE("an fp8 GEMM refuses tensors that do not fit each other") {
  using kernels::Fp8Format;
  const at::Tensor scalings = kernels::fp8_scalings(1, at::TensorOptions(tests::tested_device()));
  const auto codes = [](std::int64_t rows, std::int64_t columns, Fp8Format format) {
    return at::zeros({rows, columns}, at::kByte).to(tests::tested_device()).view(kernels::type_of(format));
  };
  const auto multiply = [&](at::Tensor result, const at::Tensor& a, const at::Tensor& b) {
    kernels::fp8_product(result, {a, scalings[0]}, {b, scalings[0]});
  };
  const at::Tensor good = at::zeros({16, 32}, at::kBFloat16).to(tests::tested_device());
  CHECK_NOTHROW(multiply(good, codes(16, 48, Fp8Format::kE4m3), codes(32, 48, Fp8Format::kE5m2)));
  CHECK_THROWS(multiply(good, codes(16, 48, Fp8Format::kE5m2), codes(32, 48, Fp8Format::kE5m2)));
  CHECK_THROWS(multiply(good, codes(16, 48, Fp8Format::kE4m3), codes(48, 48, Fp8Format::kE4m3)));
  CHECK_THROWS(multiply(good, codes(16, 40, Fp8Format::kE4m3), codes(32, 40, Fp8Format::kE4m3)));
  CHECK_THROWS(multiply(good.to(at::kFloat), codes(16, 48, Fp8Format::kE4m3), codes(32, 48, Fp8Format::kE4m3)));
  CHECK_THROWS(multiply(good, at::zeros({16, 48}), at::zeros({32, 48})));
}
