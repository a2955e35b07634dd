// Kernel case of residual addition and RMSNorm.
#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/kernel_case.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "kernels/row_norm/row_norm_case.h"

namespace headroom::kernels {

namespace {

using row_norm::kCaseEpsilon;

KernelInputs add_rms_norm_inputs(const Shape& shape, const TensorMaker& make) {
  const auto random = [&] { return make.random({shape.rows, shape.width}); };
  const at::Tensor x = random(), residual = random(), d_sum = random(), dy = random();
  return {.inputs = {x, residual, make.random({shape.width}, 0.1).add_(1)}, .upstream = {d_sum, dy}};
}

KernelForms add_rms_norm_forms(const Shape& shape, const KernelInputs& in) {
  const at::Tensor x = in.inputs[0], r = in.inputs[1], w = in.inputs[2], ds = in.upstream[0], dy = in.upstream[1];
  KernelForms all;
  const auto eager = [](const Tensors& t) {
    const at::Tensor sum = t[0] + t[1];
    return Tensors{sum, row_norm::eager_rms_norm(sum, t[2])};
  };
  const auto library = [H = shape.width](const Tensors& t) {
    const at::Tensor sum = t[0] + t[1];
    return Tensors{sum, at::rms_norm(sum, {H}, t[2], kCaseEpsilon)};
  };
  add_differentiated(all, "eager", eager, in);
  add_differentiated(all, "library", library, in);
  all.add("fused", "forward", [=] {
    const AddRmsNormOut out = add_rms_norm_forward(x, r, w, kCaseEpsilon);
    return Tensors{out.sum, out.y};
  });
  const AddRmsNormOut kept = add_rms_norm_forward(x, r, w, kCaseEpsilon);
  all.add("fused", "backward", [dy, ds, w, sum = kept.sum, rstd = kept.rstd] {
    const NormGradients out = rms_norm_backward(dy, sum, w, rstd, ds, /*overwrite_dy=*/false);
    return Tensors{out.dx, out.dx, out.dweight};
  });
  all.add("fused", "full", [x = leaf(x), r = leaf(r), w = leaf(w), dy, ds] {
    const auto [sum, y] = add_rms_norm(x, r, w, kCaseEpsilon);
    return with_gradients({sum, y}, {x, r, w}, {ds, dy});
  });
  const auto exact = [](const Tensors& t) {
    const auto [sum, y] = add_rms_norm_reference(t[0], t[1], t[2], kCaseEpsilon);
    return Tensors{sum, y};
  };
  all.exact = differentiated_exactly(exact, in);
  return all;
}

}  // namespace

extern const KernelCase kAddRmsNormCase;
constinit const KernelCase kAddRmsNormCase = {
    .id = "add_rms_norm",
    .inputs = &add_rms_norm_inputs,
    .forms = &add_rms_norm_forms,
    .odd_shapes = row_norm::kOddShapes,
};

}  // namespace headroom::kernels
