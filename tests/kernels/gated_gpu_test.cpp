// SwiGLU and GeGLU on a GPU.
#include "tests/kernels/gated_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("SwiGLU and GeGLU process more than 2^31 elements completely") {
  const std::int64_t n = (std::int64_t{1} << 31) + 1003;
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16);
  const at::Tensor gate = at::empty({n}, options).normal_(), up = at::empty({n}, options).normal_();
  for (const tests::GatedOps& ops : tests::kGatedOps) {
    const at::Tensor tail_gate = gate.narrow(0, n - 2011, 2011).clone(), tail_up = up.narrow(0, n - 2011, 2011).clone();
    CHECK(tests::same_bits(ops.forward(gate, up).narrow(0, n - 2011, 2011), ops.forward(tail_gate, tail_up)));
    const kernels::GatedGradients all = ops.backward(up, gate, up, false, false);
    const kernels::GatedGradients tail = ops.backward(tail_up, tail_gate, tail_up, false, false);
    CHECK(tests::same_bits(all.dgate.narrow(0, n - 2011, 2011), tail.dgate));
    CHECK(tests::same_bits(all.dup.narrow(0, n - 2011, 2011), tail.dup));
  }
}
