// fp8 casts on CPU and meta.
#include "kernels/fp8_cast/fp8_cast_ops.h"
#include "tests/support/catch.h"

using namespace headroom;
using kernels::Fp8Format;

TEST_CASE("a cast allocates the same on meta as on other devices") {
  const at::TensorOptions meta = at::TensorOptions().device(at::kMeta);
  const at::Tensor scalings = kernels::fp8_scalings(3, meta), count = at::zeros({1}, meta.dtype(at::kInt));
  const at::Tensor x = at::zeros({32, 48}, meta.dtype(at::kBFloat16));
  kernels::fp8_measure_(x, scalings[1], Fp8Format::kE5m2, /*keeps=*/true, count);
  const kernels::Fp8Codes codes =
      kernels::fp8_cast(x, scalings[1], Fp8Format::kE5m2, {.rows = true, .transposed = true});
  kernels::fp8_advance_(scalings, count);
  CHECK(codes.rows.is_meta());
  CHECK(codes.rows.nbytes() == 32 * 48);
  CHECK(codes.transposed.sizes() == at::IntArrayRef({48, 32}));
  CHECK(codes.rows.scalar_type() == at::kFloat8_e5m2);
}

TEST_CASE("a cast refuses tensors that do not fit") {
  const at::Tensor scalings = kernels::fp8_scalings(1, {}), count = at::zeros({1}, at::kInt);
  const auto cast = [&](const at::Tensor& x, const at::Tensor& scaling) {
    return kernels::fp8_cast(x, scaling, Fp8Format::kE4m3, {.rows = true});
  };
  CHECK_NOTHROW(cast(at::zeros({16, 16}), scalings[0]));
  CHECK_THROWS(cast(at::Tensor(), scalings[0]));
  CHECK_THROWS(cast(at::zeros({16, 24}), scalings[0]));
  CHECK_THROWS(cast(at::zeros({8, 32}), scalings[0]));
  CHECK_THROWS(cast(at::zeros({16, 16}, at::kDouble), scalings[0]));
  CHECK_THROWS(cast(at::zeros({32, 16}).t(), scalings[0]));
  CHECK_THROWS(cast(at::zeros({16, 16}), at::zeros({3})));
  CHECK_THROWS(kernels::fp8_measure_(at::zeros({16, 16}), scalings[0], Fp8Format::kE4m3, false, at::zeros({1})));
}
