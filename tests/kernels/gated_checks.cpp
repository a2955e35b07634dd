// What SwiGLU and GeGLU must do on whatever device.
#include "tests/kernels/gated_checks.h"

#include <limits>

#include <torch/csrc/autograd/autograd.h>

#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

namespace headroom::test {

namespace {

struct Inputs {
  at::Tensor dh, gate, up;
};

Inputs inputs(at::IntArrayRef shape, std::int64_t offset, at::ScalarType type, at::Device device) {
  at::manual_seed(3);
  return {.dh = random_at(shape, 1, offset, type, device),
          .gate = random_at(shape, 3, offset, type, device),
          .up = random_at(shape, 1, offset, type, device)};
}

struct Results {
  at::Tensor h, dgate, dup;
};

Results differentiated(at::Tensor (*function)(const at::Tensor&, const at::Tensor&), const at::Tensor& dh,
                       const at::Tensor& gate, const at::Tensor& up) {
  const at::Tensor g = gate.detach().requires_grad_(), u = up.detach().requires_grad_();
  const at::Tensor h = function(g, u);
  const auto gradients = torch::autograd::grad({h}, {g, u}, {dh.to(h.scalar_type())});
  return {h.detach(), gradients[0], gradients[1]};
}

}  // namespace

void check_gated_errors(const GatedOps& ops, at::Device device) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{1}, {1, 7}, {9, 1}, {3, 5, 129}, {64, 1024}, {1, 100'003}, {0, 8}}) {
      for (const std::int64_t offset : {0, 1}) {
        CAPTURE(ops.name, c10::toString(type), shape, offset);
        const Inputs in = inputs(shape, offset, type, device);
        const Results exact = differentiated(ops.reference, in.dh, in.gate.to(at::kDouble), in.up.to(at::kDouble));
        const Results eager = differentiated(ops.eager, in.dh, in.gate, in.up);
        const Results ours = differentiated(ops.differentiable, in.dh, in.gate, in.up);
        CHECK(relative_error(ours.h, exact.h) <= 2 * relative_error(eager.h, exact.h) + kFloor);
        CHECK(relative_error(ours.dgate, exact.dgate) <= 2 * relative_error(eager.dgate, exact.dgate) + kFloor);
        CHECK(relative_error(ours.dup, exact.dup) <= 2 * relative_error(eager.dup, exact.dup) + kFloor);
      }
    }
  }
}

void check_gated_extremes(const GatedOps& ops, at::Device device) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor gate = at::tensor({kInfinity, -kInfinity, kNan, 0.0f, -0.0f, 80.0f, -80.0f, 104.0f, -104.0f, 1e4f,
                                      -1e4f, 2.0f, 2.0f, 2.0f, 6e4f, -6e4f})
                              .to(device);
  const at::Tensor up = at::tensor({1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 2.0f, 2.0f, 2.0f, 2.0f, 2.0f, 2.0f, kInfinity,
                                    -kInfinity, kNan, 1.0f, 1.0f})
                            .to(device);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor g = gate.to(type), u = up.to(type), dh = at::ones_like(g);
    const Results exact = differentiated(ops.reference, dh, g.to(at::kDouble), u.to(at::kDouble));
    const Results ours = differentiated(ops.differentiable, dh, g, u);
    CAPTURE(ops.name, c10::toString(type), ours.h, exact.h, ours.dgate, exact.dgate);
    const double tolerance = type == at::kFloat ? 1e-5 : 1e-2;
    CHECK(same_kind(ours.h, exact.h.to(type), tolerance));  // what overflows in the type is infinite in both
    CHECK(same_kind(ours.dgate, exact.dgate.to(type), tolerance));
    CHECK(same_kind(ours.dup, exact.dup.to(type), tolerance));
  }
}

void check_gated_forms(const GatedOps& ops, at::Device device) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t offset : {0, 1}) {
      CAPTURE(ops.name, c10::toString(type), offset);
      const Inputs in = inputs({37, 515}, offset, type, device);
      const at::Tensor h = ops.forward(in.gate, in.up);
      const kernels::GatedGradients plain = ops.backward(in.dh, in.gate, in.up, false, false);
      CHECK_FALSE(plain.h.defined());
      CHECK(same_bits(h, ops.forward(in.gate, in.up)));
      const kernels::GatedGradients rebuilt = ops.backward(in.dh, in.gate, in.up, true, false);
      CHECK(same_bits(rebuilt.h, h));
      CHECK(same_bits(rebuilt.dgate, plain.dgate));
      CHECK(same_bits(rebuilt.dup, plain.dup));
      for (const bool rebuild : {false, true}) {
        const Inputs over{in.dh.clone(), in.gate.clone(), in.up.clone()};
        const kernels::GatedGradients in_place = ops.backward(over.dh, over.gate, over.up, rebuild, true);
        CHECK(in_place.dgate.data_ptr() == over.gate.data_ptr());
        CHECK(in_place.dup.data_ptr() == over.up.data_ptr());
        CHECK(same_bits(in_place.dgate, plain.dgate));
        CHECK(same_bits(in_place.dup, plain.dup));
        CHECK(same_bits(over.dh, rebuild ? h : in.dh));
      }
    }
  }
}

void check_gated_autograd(const GatedOps& ops, at::Device device) {
  const Inputs in = inputs({6, 33}, 0, at::kFloat, device);
  const at::Tensor gate = in.gate.detach().requires_grad_(), up = in.up.detach().requires_grad_();
  const at::Tensor h = ops.differentiable(gate, up);
  // Twice through one graph, the second time with a gradient that is no plain block of memory.
  const auto once = torch::autograd::grad({h}, {gate, up}, {in.dh}, /*retain_graph=*/true);
  const at::Tensor strided = in.dh.t().contiguous().t();
  const auto twice = torch::autograd::grad({h}, {gate, up}, {strided});
  const Results exact = differentiated(ops.reference, in.dh, in.gate.to(at::kDouble), in.up.to(at::kDouble));
  CHECK(same_bits(once[0], twice[0]));
  CHECK(same_bits(once[1], twice[1]));
  CHECK(relative_error(once[0], exact.dgate) < 1e-5);
  CHECK(relative_error(once[1], exact.dup) < 1e-5);
  CHECK(same_bits(gate.detach(), in.gate));  // nothing was overwritten
}

}  // namespace headroom::test
