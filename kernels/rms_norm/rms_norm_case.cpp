// Kernel case of RMSNorm.
#include "kernels/kernel_case.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "kernels/row_norm/row_norm_case.h"

namespace headroom::kernels {

namespace {

using row_norm::kCaseEpsilon;

KernelForms rms_norm_forms(const Shape& shape, const KernelInputs& in) {
  const at::Tensor x = in.inputs[0], w = in.inputs[1], dy = in.upstream[0];
  KernelForms all;
  add_differentiated(
      all, "eager", [](const Tensors& t) { return Tensors{row_norm::eager_rms_norm(t[0], t[1])}; }, in);
  add_differentiated(
      all, "library",
      [H = shape.width](const Tensors& t) { return Tensors{at::rms_norm(t[0], {H}, t[1], kCaseEpsilon)}; }, in);
  all.add("fused", "forward", [=] { return Tensors{rms_norm_forward(x, w, kCaseEpsilon).y}; });
  all.add("fused", "backward", [=, rstd = rms_norm_forward(x, w, kCaseEpsilon).rstd] {
    const NormGradients out = rms_norm_backward(dy, x, w, rstd, {}, /*overwrite_dy=*/false);
    return Tensors{out.dx, out.dweight};
  });
  all.add("fused", "full", [x = leaf(x), w = leaf(w), dy] {
    return with_gradients({rms_norm(x, w, kCaseEpsilon)}, {x, w}, {dy});
  });
  all.exact = differentiated_exactly(
      [](const Tensors& t) { return Tensors{rms_norm_reference(t[0], t[1], kCaseEpsilon)}; }, in);
  return all;
}

}  // namespace

extern const KernelCase kRmsNormCase;
constinit const KernelCase kRmsNormCase = {
    .id = "rms_norm",
    .inputs = [](const Shape& shape, const TensorMaker& make) -> KernelInputs {
      const at::Tensor x = make.random({shape.rows, shape.width}), dy = make.random({shape.rows, shape.width});
      return {.inputs = {x, make.random({shape.width}, 0.1).add_(1)}, .upstream = {dy}};
    },
    .forms = &rms_norm_forms,
    .odd_shapes = row_norm::kOddShapes,
};

}  // namespace headroom::kernels
