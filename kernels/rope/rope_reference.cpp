// RoPE in float64: equation 34 of the paper for pairs (j, j + D/2).
#include "kernels/rope/rope_ops.h"

namespace headroom::kernels {

at::Tensor rope_reference(const at::Tensor& x_BTAD, const at::Tensor& cos_TD2, const at::Tensor& sin_TD2) {
  const at::Tensor x = x_BTAD.to(at::kDouble);
  const at::Tensor cos = cos_TD2.to(at::kDouble).unsqueeze(1), sin = sin_TD2.to(at::kDouble).unsqueeze(1);
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor low = x.narrow(-1, 0, half), high = x.narrow(-1, half, half);
  return at::cat({low * cos - high * sin, high * cos + low * sin}, -1);
}

}  // namespace headroom::kernels
