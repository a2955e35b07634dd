// Residual addition and RMSNorm on tensors.
#include "kernels/add_rms_norm/add_rms_norm_ops.h"

#include <torch/csrc/autograd/custom_function.h>

#include "kernels/add_rms_norm/add_rms_norm.h"
#include "kernels/common/traced.h"
#include "kernels/row_norm/row_norm_ops.h"

namespace headroom::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct AddRmsNormFunction : torch::autograd::Function<AddRmsNormFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& residual,
                               const at::Tensor& weight_H, double epsilon) {
    const AddRmsNormOut out = add_rms_norm_forward(x, residual, weight_H, epsilon);
    context->save_for_backward({out.sum, weight_H, out.rstd});
    context->set_materialize_grads(false);  // absent gradients stay undefined instead of becoming zeros
    return {out.sum, out.y};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor &d_sum = gradients[0], &dy = gradients[1];
    if (!dy.defined()) return {d_sum, d_sum, {}, {}};
    const variable_list saved = context->get_saved_variables();
    const NormGradients d =
        rms_norm_backward(dy.contiguous(), saved[0], saved[1], saved[2],
                          d_sum.defined() ? d_sum.contiguous() : at::Tensor(), /*overwrite_dy=*/false);
    return {d.dx, d.dx, d.dweight, {}};
  }
};

}  // namespace

AddRmsNormOut add_rms_norm_forward(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight_H,
                                   double epsilon) {
  row_norm::check_input("add_rms_norm", x, weight_H);
  row_norm::check_like("add_rms_norm", "the residual", residual, x);
  AddRmsNormOut out{.sum = at::empty_like(x), .y = at::empty_like(x), .rstd = row_norm::new_statistic(x)};
  if (x.is_meta()) return out;
  NormForward norm = row_norm::forward_arguments(x, weight_H, epsilon);
  norm.residual = residual.const_data_ptr();
  norm.sum = out.sum.mutable_data_ptr();
  norm.y = out.y.mutable_data_ptr();
  norm.rstd = out.rstd.mutable_data_ptr<float>();
  const Traced traced("add_rms_norm", {x, residual, weight_H, out.sum, out.y, out.rstd});
  row_norm::run_forward("add_rms_norm", x, norm, &add_rms_norm_forward_cuda, &add_rms_norm_forward_cpu);
  return out;
}

std::pair<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& x, const at::Tensor& residual,
                                               const at::Tensor& weight_H, double epsilon) {
  const variable_list out = AddRmsNormFunction::apply(x, residual, weight_H, epsilon);
  return {out[0], out[1]};
}

std::pair<at::Tensor, at::Tensor> add_rms_norm_reference(const at::Tensor& x, const at::Tensor& residual,
                                                         const at::Tensor& weight_H, double epsilon) {
  const at::Tensor sum = x.to(at::kDouble) + residual.to(at::kDouble);
  return {sum, rms_norm_reference(sum, weight_H, epsilon)};
}

}  // namespace headroom::kernels
