// SwiGLU and GeGLU on CPU and meta.
#include "tests/kernels/layers/gated_ops.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("SwiGLU and GeGLU equal hand-computed ones") {
  // silu(1) = 1/(1 + e⁻¹) = 0.731059; gelu(1) = ½ (1 + tanh(0.797885 · 1.044715)) = 0.841192; times up = 3.
  const at::Tensor one = at::full({1}, 1.0f), three = at::full({1}, 3.0f);
  CHECK(kernels::swiglu_forward(one, three).item<float>() == Approx(2.193176));
  CHECK(kernels::geglu_forward(one, three).item<float>() == Approx(2.523576));
  CHECK(kernels::swiglu_reference(one, three).item<double>() == Approx(2.193175736));
  CHECK(kernels::geglu_reference(one, three).item<double>() == Approx(2.523575979));
}

TEST_CASE("SwiGLU and GeGLU refuse tensors that do not fit each other") {
  const at::Tensor a = at::zeros({4, 6});
  for (const tests::GatedOps& ops : tests::kGatedOps) {
    CHECK_THROWS(ops.forward(a, at::zeros({6, 4})));
    CHECK_THROWS(ops.forward(a, a.to(at::kBFloat16)));
    CHECK_THROWS(ops.forward(a.t(), a.t()));
    CHECK_THROWS(ops.forward(a.to(at::kDouble), a.to(at::kDouble)));
    CHECK_THROWS(ops.forward(a, at::zeros({4, 6}, at::TensorOptions().device(at::kMeta))));
    CHECK_THROWS(ops.forward(a, at::Tensor()));
    CHECK_THROWS(ops.backward(at::zeros({4, 5}), a, a, false, false));
  }
}

TEST_CASE("SwiGLU and GeGLU allocate the same on meta as on other devices") {
  const at::Tensor a = at::empty({4, 6}, at::TensorOptions().device(at::kMeta).dtype(at::kBFloat16));
  for (const tests::GatedOps& ops : tests::kGatedOps) {
    CHECK(ops.forward(a, a).nbytes() == 48);
    CHECK(ops.backward(a, a, a, true, false).h.nbytes() == 48);
    CHECK(ops.backward(a, a, a, true, true).h.is_same(a));
  }
}
