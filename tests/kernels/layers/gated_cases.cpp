// SwiGLU and GeGLU on any device.
#include <limits>

#include <torch/csrc/autograd/autograd.h>

#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/layers/gated_ops.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

struct GatedInputs {
  at::Tensor dh, gate, up;
};

GatedInputs gated_inputs(at::IntArrayRef shape, std::int64_t offset, at::ScalarType type) {
  const at::Device device = tests::tested_device();
  at::manual_seed(3);
  return {.dh = tests::random_at(shape, 1, offset, type, device),
          .gate = tests::random_at(shape, 3, offset, type, device),
          .up = tests::random_at(shape, 1, offset, type, device)};
}

struct GatedResults {
  at::Tensor h, dgate, dup;
};
struct Compared {
  GatedResults exact, ours;
};

Compared compared(const tests::GatedOps& ops, const GatedInputs& in) {
  const kernels::KernelForms forms =
      kernels::find_case(ops.name)->forms({}, {.inputs = {in.gate, in.up}, .upstream = {in.dh}});
  const kernels::Tensors exact = forms.exact("full");
  Compared all{.exact = {exact[0], exact[1], exact[2]}, .ours = {}};
  for (const kernels::KernelForm& form : forms.forms) {
    if (form.variant != "fused" || form.pass != "full") continue;
    const kernels::Tensors ours = form.call();
    all.ours = {ours[0], ours[1], ours[2]};
  }
  return all;
}

}  // namespace

TEST_CASE("SwiGLU and GeGLU treat NaN and infinity like float64") {
  for (const tests::GatedOps& ops : tests::kGatedOps) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
    const at::Tensor gate = at::tensor({kInfinity, -kInfinity, kNan, 0.0f, -0.0f, 80.0f, -80.0f, 104.0f, -104.0f, 1e4f,
                                        -1e4f, 2.0f, 2.0f, 2.0f, 6e4f, -6e4f})
                                .to(tests::tested_device());
    const at::Tensor up = at::tensor({1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 2.0f, 2.0f, 2.0f, 2.0f, 2.0f, 2.0f, kInfinity,
                                      -kInfinity, kNan, 1.0f, 1.0f})
                              .to(tests::tested_device());
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      const at::Tensor g = gate.to(type), u = up.to(type), dh = at::ones_like(g);
      const auto [exact, ours] = compared(ops, {.dh = dh, .gate = g, .up = u});
      CAPTURE(ops.name, c10::toString(type), ours.h, exact.h, ours.dgate, exact.dgate);
      const double tolerance = type == at::kFloat ? 1e-5 : 1e-2;
      CHECK(tests::same_kind(ours.h, exact.h.to(type), tolerance));  // overflow in the type is infinite in both
      CHECK(tests::same_kind(ours.dgate, exact.dgate.to(type), tolerance));
      CHECK(tests::same_kind(ours.dup, exact.dup.to(type), tolerance));
    }
  }
}

TEST_CASE("SwiGLU and GeGLU give the same bits in place, with h, and repeatedly") {
  for (const tests::GatedOps& ops : tests::kGatedOps) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      for (const std::int64_t offset : {0, 1}) {
        CAPTURE(ops.name, c10::toString(type), offset);
        const GatedInputs in = gated_inputs({37, 515}, offset, type);
        const at::Tensor h = ops.forward(in.gate, in.up);
        const kernels::GatedGradients plain = ops.backward(in.dh, in.gate, in.up, false, false);
        CHECK_FALSE(plain.h.defined());
        CHECK(tests::same_bits(h, ops.forward(in.gate, in.up)));
        const kernels::GatedGradients rebuilt = ops.backward(in.dh, in.gate, in.up, true, false);
        CHECK(tests::same_bits(rebuilt.h, h));
        CHECK(tests::same_bits(rebuilt.dgate, plain.dgate));
        CHECK(tests::same_bits(rebuilt.dup, plain.dup));
        for (const bool rebuild : {false, true}) {
          const GatedInputs over{in.dh.clone(), in.gate.clone(), in.up.clone()};
          const kernels::GatedGradients in_place = ops.backward(over.dh, over.gate, over.up, rebuild, true);
          CHECK(in_place.dgate.data_ptr() == over.gate.data_ptr());
          CHECK(in_place.dup.data_ptr() == over.up.data_ptr());
          CHECK(tests::same_bits(in_place.dgate, plain.dgate));
          CHECK(tests::same_bits(in_place.dup, plain.dup));
          CHECK(tests::same_bits(over.dh, rebuild ? h : in.dh));
        }
      }
    }
  }
}

TEST_CASE("backward can run twice through SwiGLU and GeGLU") {
  for (const tests::GatedOps& ops : tests::kGatedOps) {
    const GatedInputs in = gated_inputs({6, 33}, 0, at::kFloat);
    const at::Tensor gate = in.gate.detach().requires_grad_(), up = in.up.detach().requires_grad_();
    const at::Tensor h = ops.differentiable(gate, up);
    const auto once = torch::autograd::grad({h}, {gate, up}, {in.dh}, /*retain_graph=*/true);
    const at::Tensor strided = in.dh.t().contiguous().t();
    const auto twice = torch::autograd::grad({h}, {gate, up}, {strided});
    const GatedResults exact = compared(ops, in).exact;
    CHECK(tests::same_bits(once[0], twice[0]));
    CHECK(tests::same_bits(once[1], twice[1]));
    CHECK(tests::relative_error(once[0], exact.dgate) < 1e-5);
    CHECK(tests::relative_error(once[1], exact.dup) < 1e-5);
    CHECK(tests::same_bits(gate.detach(), in.gate));  // nothing was overwritten
  }
}
