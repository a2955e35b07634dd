// Emulated tf32 GEMMs, against float64 with rounded operands.
#include <cmath>
#include <limits>

#include "kernels/narrow_product/narrow_product_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

// Rounds to 10 bits of fraction by plain arithmetic.
at::Tensor rounded(const at::Tensor& x) {
  at::Tensor result = x.cpu().to(at::kDouble).contiguous().clone();
  auto* const data = result.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    int exponent = 0;
    const double fraction = std::frexp(data[i], &exponent);
    data[i] = std::ldexp(std::round(fraction * 2048), exponent - 11);
  }
  return result;
}

}  // namespace

TEST_CASE("a tf32 GEMM equals that of operands with 10 fraction bits, whatever the strides") {
  at::manual_seed(1);
  // Each dimension is larger than a tile.
  const at::Tensor a = at::randn({600, 530}).to(tests::tested_device()), b = at::randn({530, 520}).to(a.device());
  const at::Tensor exact = at::mm(rounded(a), rounded(b));
  at::Tensor plain = at::empty({600, 520}, a.options()), turned = at::empty_like(plain);
  kernels::product(plain, a, b, {.tf32 = true});
  kernels::product(turned, a.t().contiguous().t(), b.t().contiguous().t(), {.tf32 = true});
  CHECK(tests::relative_error(plain, exact) < 1e-5);
  CHECK(tests::relative_error(turned, exact) < 1e-5);
  CHECK(tests::relative_error(at::mm(a.cpu(), b.cpu()), exact) > 1e-5);
}

TEST_CASE("a tf32 GEMM adds, scales, and keeps inf and NaN") {
  at::manual_seed(2);
  const at::Tensor a = at::randn({5, 7}).to(tests::tested_device()), b = at::randn({7, 3}).to(a.device()),
                   before = at::randn({5, 3}).to(a.device());
  at::Tensor sum = before.clone();
  kernels::product(sum, a, b, {.adds = true, .alpha = 0.5, .tf32 = true});
  CHECK(tests::relative_error(sum, before.cpu().to(at::kDouble) + 0.5 * at::mm(rounded(a), rounded(b))) < 1e-6);
  at::Tensor one = at::empty({1, 1}, a.options());
  const auto number = [&](double value) { return at::full({1, 1}, value, a.options()); };
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    kernels::product(one, number(bad), number(1), {.tf32 = true});
    CHECK_FALSE(std::isfinite(one.item<float>()));
  }
  // 1 + 2^-11 is a tie, rounded away from zero.
  kernels::product(one, number(1 + 0x1p-11), number(1), {.tf32 = true});
  CHECK(one.item<float>() == 1 + 0x1p-10F);
  CHECK_THROWS(kernels::product(one, number(1).to(at::kBFloat16), number(1).to(at::kBFloat16), {.tf32 = true}));
}
