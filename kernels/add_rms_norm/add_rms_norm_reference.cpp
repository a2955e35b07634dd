// Residual addition and RMSNorm in float64.
#include "kernels/add_rms_norm/add_rms_norm_ops.h"

namespace headroom::kernels {

std::pair<at::Tensor, at::Tensor> add_rms_norm_reference(const at::Tensor& x, const at::Tensor& residual,
                                                         const at::Tensor& weight_H, double epsilon) {
  const at::Tensor sum = x.to(at::kDouble) + residual.to(at::kDouble);
  return {sum, rms_norm_reference(sum, weight_H, epsilon)};
}

}  // namespace headroom::kernels
