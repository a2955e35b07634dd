// 16-bit GEMMs on the CPU, compared with float64.
#include <cmath>
#include <limits>

#include "kernels/narrow_product/narrow_product_ops.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

constexpr double kSumError = 1e-4;  // 530 products of normal numbers, summed in fp32

// Largest error beyond one rounding to the result's type; at most 0 if rounded once.
double beyond_one_rounding(const at::Tensor& result, const at::Tensor& exact) {
  const double half_ulp = result.scalar_type() == at::kHalf ? 0x1p-11 : 0x1p-8;
  return ((result.to(at::kDouble) - exact).abs() - half_ulp * exact.abs() - kSumError).max().item<double>();
}

}  // namespace

TEST_CASE("a 16-bit GEMM on the CPU rounds once, whatever the strides") {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    CAPTURE(type);
    at::manual_seed(1);
    // Each dimension is larger than a tile.
    const at::Tensor a = at::randn({600, 530}).to(type), b = at::randn({530, 520}).to(type);
    const at::Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
    at::Tensor plain = at::empty({600, 520}, a.options()), turned = at::empty_like(plain),
               wide = at::empty({600, 1040}, a.options()).fill_(7);
    kernels::product(plain, a, b);
    kernels::product(turned, a.t().contiguous().t(), b.t().contiguous().t());
    at::Tensor with_gaps = wide.view({600, 520, 2}).select(2, 0);
    kernels::product(with_gaps, a, b);
    CHECK(beyond_one_rounding(plain, exact) <= 0);
    CHECK(beyond_one_rounding(turned, exact) <= 0);
    CHECK(at::equal(with_gaps, plain));
    CHECK(wide.view({600, 520, 2}).select(2, 1).eq(7).all().item<bool>());
  }
}

TEST_CASE("a 16-bit GEMM on the CPU adds, scales, and keeps inf and NaN") {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    CAPTURE(type);
    at::manual_seed(2);
    const at::Tensor a = at::randn({5, 7}).to(type), b = at::randn({7, 3}).to(type),
                     before = at::randn({5, 3}).to(type);
    const at::Tensor product = at::mm(a.to(at::kDouble), b.to(at::kDouble));
    at::Tensor sum = before.clone();
    kernels::product(sum, a, b, {.adds = true, .alpha = 0.5});
    CHECK(beyond_one_rounding(sum, before.to(at::kDouble) + 0.5 * product) <= 0);
    at::Tensor one = at::empty({1, 1}, a.options());
    const auto number = [&](double value) { return at::full({1, 1}, value, a.options()); };
    for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      kernels::product(one, number(bad), number(1));
      CHECK_FALSE(std::isfinite(one.item<float>()));
    }
  }
  at::Tensor narrow = at::empty({1, 1}, at::kBFloat16);
  CHECK_THROWS(kernels::product(narrow, at::ones({1, 1}), at::ones({1, 1})));
}
