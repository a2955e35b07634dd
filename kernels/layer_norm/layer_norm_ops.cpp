// LayerNorm on tensors.
#include "kernels/layer_norm/layer_norm_ops.h"

#include <torch/csrc/autograd/custom_function.h>

#include "kernels/common/traced.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/row_norm/row_norm_ops.h"

namespace headroom::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LayerNormFunction : torch::autograd::Function<LayerNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight_H,
                            const at::Tensor& bias_H, double epsilon) {
    const LayerNormOut out = layer_norm_forward(x, weight_H, bias_H, epsilon);
    context->save_for_backward({x, weight_H, out.mean, out.rstd});
    return out.y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const NormGradients d = layer_norm_backward(gradients[0].contiguous(), saved[0], saved[1], saved[2], saved[3],
                                                /*overwrite_dy=*/false);
    return {d.dx, d.dweight, d.dbias, {}};
  }
};

}  // namespace

LayerNormOut layer_norm_forward(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H,
                                double epsilon) {
  row_norm::check_input("layer_norm", x, weight_H);
  TORCH_CHECK(bias_H.sizes() == weight_H.sizes() && bias_H.is_contiguous() && bias_H.scalar_type() == x.scalar_type() &&
                  bias_H.device() == x.device(),
              "layer_norm: the bias must be [", x.size(-1), "], contiguous, and of x's type and device");
  LayerNormOut out{.y = at::empty_like(x), .mean = row_norm::new_statistic(x), .rstd = row_norm::new_statistic(x)};
  if (x.is_meta()) return out;
  NormForward norm = row_norm::forward_arguments(x, weight_H, epsilon);
  norm.bias = bias_H.const_data_ptr();
  norm.y = out.y.mutable_data_ptr();
  norm.mean = out.mean.mutable_data_ptr<float>();
  norm.rstd = out.rstd.mutable_data_ptr<float>();
  const Traced traced("layer_norm", {x, weight_H, bias_H, out.y, out.mean, out.rstd});
  row_norm::run_forward("layer_norm", x, norm, &layer_norm_forward_cuda, &layer_norm_forward_cpu);
  return out;
}

NormGradients layer_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight_H,
                                  const at::Tensor& mean, const at::Tensor& rstd, bool overwrite_dy) {
  return row_norm::run_backward("layer_norm_backward",
                                {.dy = dy,
                                 .x = x,
                                 .weight_H = weight_H,
                                 .mean = mean,
                                 .rstd = rstd,
                                 .d_sum = {},
                                 .has_bias = true,
                                 .overwrite_dy = overwrite_dy},
                                &layer_norm_backward_cuda, &layer_norm_backward_cpu);
}

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H, double epsilon) {
  return LayerNormFunction::apply(x, weight_H, bias_H, epsilon);
}

// Ba, Kiros and Hinton 2016, equation 4, with ε under the root.
at::Tensor layer_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H,
                                double epsilon) {
  const at::Tensor centred = x.to(at::kDouble) - x.to(at::kDouble).mean(-1, /*keepdim=*/true);
  const at::Tensor variance = centred.square().mean(-1, /*keepdim=*/true);
  return centred / (variance + epsilon).sqrt() * weight_H.to(at::kDouble) + bias_H.to(at::kDouble);
}

}  // namespace headroom::kernels
