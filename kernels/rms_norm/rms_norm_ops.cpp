// RMSNorm on tensors.
#include "kernels/rms_norm/rms_norm_ops.h"

#include <torch/csrc/autograd/custom_function.h>

#include "kernels/common/traced.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/row_norm/row_norm_ops.h"

namespace headroom::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RmsNormFunction : torch::autograd::Function<RmsNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight_H, double epsilon) {
    const RmsNormOut out = rms_norm_forward(x, weight_H, epsilon);
    context->save_for_backward({x, weight_H, out.rstd});
    return out.y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const NormGradients d = rms_norm_backward(gradients[0].contiguous(), saved[0], saved[1], saved[2],
                                              /*d_sum=*/{}, /*overwrite_dy=*/false);
    return {d.dx, d.dweight, {}};
  }
};

}  // namespace

RmsNormOut rms_norm_forward(const at::Tensor& x, const at::Tensor& weight_H, double epsilon) {
  row_norm::check_input("rms_norm", x, weight_H);
  RmsNormOut out{.y = at::empty_like(x), .rstd = row_norm::new_statistic(x)};
  if (x.is_meta()) return out;
  NormForward norm = row_norm::forward_arguments(x, weight_H, epsilon);
  norm.y = out.y.mutable_data_ptr();
  norm.rstd = out.rstd.mutable_data_ptr<float>();
  const Traced traced("rms_norm", {x, weight_H, out.y, out.rstd});
  row_norm::run_forward("rms_norm", x, norm, &rms_norm_forward_cuda, &rms_norm_forward_cpu);
  return out;
}

NormGradients rms_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight_H,
                                const at::Tensor& rstd, const at::Tensor& d_sum, bool overwrite_dy) {
  return row_norm::run_backward(
      "rms_norm_backward",
      {.dy = dy, .x = x, .weight_H = weight_H, .mean = {}, .rstd = rstd, .d_sum = d_sum, .overwrite_dy = overwrite_dy},
      &rms_norm_backward_cuda, &rms_norm_backward_cpu);
}

at::Tensor rms_norm_rebuild(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& rstd) {
  row_norm::check_input("rms_norm_rebuild", x, weight_H);
  row_norm::check_statistic("rms_norm_rebuild", "rstd", rstd, x);
  at::Tensor y = at::empty_like(x);
  if (x.is_meta()) return y;
  NormForward norm = row_norm::forward_arguments(x, weight_H, /*epsilon=*/0);
  norm.y = y.mutable_data_ptr();
  norm.rstd = rstd.mutable_data_ptr<float>();
  const Traced traced("rms_norm_rebuild", {x, weight_H, rstd, y});
  row_norm::run_forward("rms_norm_rebuild", x, norm, &rms_norm_rebuild_cuda, &rms_norm_rebuild_cpu);
  return y;
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight_H, double epsilon) {
  return RmsNormFunction::apply(x, weight_H, epsilon);
}

// Zhang and Sennrich 2019, equation 4, with ε under the root.
at::Tensor rms_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, double epsilon) {
  const at::Tensor x_fp64 = x.to(at::kDouble);
  const at::Tensor mean_square = x_fp64.square().mean(-1, /*keepdim=*/true);
  return x_fp64 / (mean_square + epsilon).sqrt() * weight_H.to(at::kDouble);
}

}  // namespace headroom::kernels
