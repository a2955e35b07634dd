// Counting by exponent on CPU and meta.
#include "kernels/kernel.h"
#include "tests/kernels/exponent_counts_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("nothing is counted on meta, but tensors are checked") {
  const at::Tensor x = at::zeros({4}, at::TensorOptions().device(at::kMeta));
  const at::Tensor counts = tests::no_counts(at::kMeta);
  kernels::count_exponents_(counts, x, x.narrow(0, 0, 1));
  CHECK_THROWS(kernels::count_exponents_(counts, x, x));
  const kernels::AdamWChange change{x, x, x, x};
  kernels::count_updates_(counts, counts, change, tests::exact_step());
  CHECK_THROWS(kernels::count_updates_(counts, x, change, tests::exact_step()));
}

TEST_CASE("the catalogue's counts read the numbers once") {
  const kernels::KernelInfo* info = kernels::find_kernel("exponent_counts");
  REQUIRE(info != nullptr);
  CHECK(info->bytes({.width = 1000}, kernels::Pass::kForward, 2) == 2000);
}
