// LayerNorm in float64: Ba, Kiros and Hinton 2016, equation 4, with ε under the root.
#include "kernels/layer_norm/layer_norm_ops.h"

namespace headroom::kernels {

at::Tensor layer_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H,
                                double epsilon) {
  const at::Tensor centred = x.to(at::kDouble) - x.to(at::kDouble).mean(-1, /*keepdim=*/true);
  const at::Tensor variance = centred.square().mean(-1, /*keepdim=*/true);
  return centred / (variance + epsilon).sqrt() * weight_H.to(at::kDouble) + bias_H.to(at::kDouble);
}

}  // namespace headroom::kernels
