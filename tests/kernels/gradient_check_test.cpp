// The search for inf and NaN and the loss scale on CPU and meta.
#include "kernels/gradient_check/gradient_check_ops.h"
#include "kernels/kernel.h"
#include "tests/kernels/gradient_check_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("the gradient check reads nothing on meta") {
  const auto meta = at::TensorOptions().device(at::kMeta);
  const std::vector<at::Tensor> gradients{at::zeros({4}, meta)};
  kernels::check_finite_(gradients, at::zeros({1}, meta.dtype(at::kInt)));
  const tests::LossScaleState s = tests::loss_scale_state(8, at::kMeta);
  kernels::update_loss_scale_(s.scale, s.inverse_scale, s.good_steps, s.overflow, s.skipped, 10);
}

TEST_CASE("the catalogue's gradient check reads the gradients once") {
  const kernels::KernelInfo* info = kernels::find_kernel("gradient_check");
  REQUIRE(info != nullptr);
  CHECK(info->bytes({.width = 1000}, kernels::Pass::kForward, 2) == 2000);
}
