// 8-bit AdamW on CPU and meta.
#include <span>

#include "kernels/kernel.h"
#include "tests/kernels/optimizer/adamw_tensors.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("8-bit AdamW refuses tensors that do not fit each other") {
  const auto refused = [](const auto& change) {
    kernels::AdamW8bitParameter p = tests::weight_8bit(300, 0, tests::kWeight8bitTypes[0], at::kCPU);
    tests::step_8bit(p, 1);
    change(p);
    CHECK_THROWS(tests::step_8bit(p, 1));
  };
  refused([](auto& p) { p.gradient = at::zeros({300}, at::kHalf); });
  refused([](auto& p) { p.gradient = at::Tensor(); });
  refused([](auto& p) { p.m_codes = p.m_codes.to(at::kInt); });
  refused([](auto& p) { p.v_codes = p.v_codes.narrow(0, 0, 299); });
  refused([](auto& p) { p.m_absmax = at::zeros({1}); });
  refused([](auto& p) { p.v_absmax = p.v_absmax.to(at::kDouble); });
  refused([](auto& p) { p.working = at::zeros({300}); });
  CHECK_THROWS(kernels::quantise_blockwise(at::zeros({4}, at::kDouble), true));
  CHECK_THROWS(kernels::dequantise_blockwise(at::zeros({4}, at::kByte), at::zeros({2}), true, 4));
}

TEST_CASE("8-bit AdamW only checks on meta, and quantization allocates as on other devices") {
  const auto meta = at::TensorOptions().device(at::kMeta);
  const at::Tensor x = at::zeros({1000}, meta);
  const kernels::BlockQuantised q = kernels::quantise_blockwise(x, true);
  CHECK(q.codes.is_meta());
  CHECK(q.codes.nbytes() + q.absmax.nbytes() == 1016);
  CHECK(kernels::dequantise_blockwise(q.codes, q.absmax, true, 1000).nbytes() == 4000);
  kernels::AdamW8bitParameter p{x, x, q.codes, q.absmax, q.codes, q.absmax};
  tests::step_8bit(p, 1);
  const kernels::AdamWReference exact = tests::reference_8bit(p, 1);  // on the inputs' device
  CHECK((exact.param.is_meta() && exact.first_moment.is_meta() && exact.second_moment.is_meta()));
  p.v_absmax = at::zeros({3}, meta);
  CHECK_THROWS(tests::step_8bit(p, 1));
}

TEST_CASE("the state of 8-bit AdamW takes 2.031 bytes per parameter") {
  CHECK(kernels::adamw_8bit_state_bytes(256) == 520);
  CHECK(kernels::adamw_8bit_state_bytes(1) == 10);
  CHECK(kernels::adamw_8bit_state_bytes(1'235'814'400) / 1'235'814'400.0 == Approx(2.03125));
  const kernels::KernelInfo* info = kernels::find_kernel("adamw_8bit");
  REQUIRE(info != nullptr);
  CHECK(info->bytes({.width = 256}, kernels::Pass::kForward, 2) == 256 * 10 + 16);
}
