// Kernel case of LayerNorm.
#include "kernels/kernel_case.h"
#include "kernels/layer_norm/layer_norm_ops.h"
#include "kernels/row_norm/row_norm_case.h"

namespace headroom::kernels {

namespace {

using row_norm::kCaseEpsilon;

at::Tensor eager_layer_norm(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H) {
  const at::Tensor x_fp32 = x.to(at::kFloat);
  const at::Tensor centred = x_fp32 - x_fp32.mean(-1, /*keepdim=*/true);
  const at::Tensor variance = centred.pow(2).mean(-1, /*keepdim=*/true);
  return weight_H * (centred * at::rsqrt(variance + kCaseEpsilon)).to(x.scalar_type()) + bias_H;
}

KernelInputs layer_norm_inputs(const Shape& shape, const TensorMaker& make) {
  const at::Tensor x = make.random({shape.rows, shape.width}).add_(3);  // a mean to subtract
  const at::Tensor dy = make.random({shape.rows, shape.width});
  return {.inputs = {x, make.random({shape.width}, 0.1).add_(1), make.random({shape.width}, 0.1)}, .upstream = {dy}};
}

KernelForms layer_norm_forms(const Shape& shape, const KernelInputs& in) {
  const at::Tensor x = in.inputs[0], w = in.inputs[1], b = in.inputs[2], dy = in.upstream[0];
  KernelForms all;
  const auto library = [H = shape.width](const Tensors& t) {
    return Tensors{at::layer_norm(t[0], {H}, t[1], t[2], kCaseEpsilon)};
  };
  add_differentiated(
      all, "eager", [](const Tensors& t) { return Tensors{eager_layer_norm(t[0], t[1], t[2])}; }, in);
  add_differentiated(all, "library", library, in);
  all.add("fused", "forward", [=] { return Tensors{layer_norm_forward(x, w, b, kCaseEpsilon).y}; });
  const LayerNormOut kept = layer_norm_forward(x, w, b, kCaseEpsilon);
  all.add("fused", "backward", [dy, x, w, mean = kept.mean, rstd = kept.rstd] {
    const NormGradients out = layer_norm_backward(dy, x, w, mean, rstd, /*overwrite_dy=*/false);
    return Tensors{out.dx, out.dweight, out.dbias};
  });
  all.add("fused", "full", [x = leaf(x), w = leaf(w), b = leaf(b), dy] {
    return with_gradients({layer_norm(x, w, b, kCaseEpsilon)}, {x, w, b}, {dy});
  });
  all.exact = differentiated_exactly(
      [](const Tensors& t) { return Tensors{layer_norm_reference(t[0], t[1], t[2], kCaseEpsilon)}; }, in);
  return all;
}

}  // namespace

extern const KernelCase kLayerNormCase;
constinit const KernelCase kLayerNormCase = {
    .id = "layer_norm",
    .inputs = &layer_norm_inputs,
    .forms = &layer_norm_forms,
    .odd_shapes = row_norm::kOddShapes,
};

}  // namespace headroom::kernels
