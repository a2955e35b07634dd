// RMSNorm in float64: Zhang and Sennrich 2019, equation 4, with ε under the root.
#include "kernels/rms_norm/rms_norm_ops.h"

namespace headroom::kernels {

at::Tensor rms_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, double epsilon) {
  const at::Tensor x_fp64 = x.to(at::kDouble);
  const at::Tensor mean_square = x_fp64.square().mean(-1, /*keepdim=*/true);
  return x_fp64 / (mean_square + epsilon).sqrt() * weight_H.to(at::kDouble);
}

}  // namespace headroom::kernels
