// Kernel cases of SwiGLU and GeGLU, alone and in an MLP.
#include "kernels/gated/gated_case.h"

#include <algorithm>

namespace headroom::kernels::gated_case {

namespace {

// GEMMs take almost all of the time.
KernelForms mlp_forms(const CaseOps& ops, const Shape& shape, const KernelInputs& in) {
  KernelForms all;
  all.of_memory = all.graphs = false;
  all.work = [shape](const std::string& pass) {
    const double forward = 6.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.width * shape.hidden);
    return PassWork{.bytes = 0, .flops = forward * (pass == "forward" ? 1 : pass == "backward" ? 2 : 3)};
  };
  const auto mlp = [](auto* product) {
    return [product](const Tensors& t) {
      return Tensors{at::linear(product(at::linear(t[0], t[1]), at::linear(t[0], t[2])), t[3])};
    };
  };
  add_differentiated(all, "eager", mlp(ops.eager), in);
  add_differentiated(all, "fused", mlp(ops.differentiable), in);
  return all;
}

}  // namespace

KernelInputs inputs(const Shape& shape, const TensorMaker& make) {
  const std::int64_t F = shape.width, H = shape.hidden, B = std::max<std::int64_t>(1, shape.batch);
  if (H > 0) {
    constexpr double kScale = 0.02;
    const at::Tensor x = make.random({B, shape.rows / B, H}), dy = make.random({B, shape.rows / B, H});
    const at::Tensor gate = make.random({F, H}, kScale), up = make.random({F, H}, kScale);
    return {.inputs = {x, gate, up, make.random({H, F}, kScale)}, .upstream = {dy}};
  }
  const auto random = [&] { return make.random({shape.rows, F}); };
  const at::Tensor gate = random(), up = random();
  return {.inputs = {gate, up}, .upstream = {random()}};
}

KernelForms forms(const CaseOps& ops, const Shape& shape, const KernelInputs& in) {
  if (shape.hidden > 0) return mlp_forms(ops, shape, in);
  const at::Tensor gate = in.inputs[0], up = in.inputs[1], dh = in.upstream[0];
  KernelForms all;
  add_differentiated(
      all, "eager", [ops](const Tensors& t) { return Tensors{ops.eager(t[0], t[1])}; }, in);
  all.add("fused", "forward", [=] { return Tensors{ops.forward(gate, up)}; });
  all.add("fused", "backward", [=] {
    const GatedGradients out = ops.backward(dh, gate, up, /*rebuild_h=*/false, /*in_place=*/false);
    return Tensors{out.dgate, out.dup};
  });
  all.add("fused", "full", [ops, gate = leaf(gate), up = leaf(up), dh] {
    return with_gradients({ops.differentiable(gate, up)}, {gate, up}, {dh});
  });
  all.exact = differentiated_exactly([ops](const Tensors& t) { return Tensors{ops.reference(t[0], t[1])}; }, in);
  return all;
}

}  // namespace headroom::kernels::gated_case
