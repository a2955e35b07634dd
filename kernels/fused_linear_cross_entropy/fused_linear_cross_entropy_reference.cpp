// The output layer and its cross entropy in float64.
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"

namespace headroom::kernels {

FlceReference flce_reference(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
                             const FlceOptions& options) {
  const at::Tensor x = x_NH.detach().to(at::kDouble), weight = weight_VH.detach().to(at::kDouble);
  const CrossEntropyReference loss = cross_entropy_reference(x.mm(weight.t()), targets_N,
                                                             {.ignore_index = options.ignore_index,
                                                              .reduction = options.reduction,
                                                              .label_smoothing = options.label_smoothing});
  at::Tensor dlogits = loss.dlogits;
  if (options.grad_scale.defined()) dlogits = dlogits * options.grad_scale.to(at::kDouble);
  return {.loss = loss.loss, .dx = dlogits.mm(weight), .dweight = dlogits.t().mm(x)};
}

}  // namespace headroom::kernels
