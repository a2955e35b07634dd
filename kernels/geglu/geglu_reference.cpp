// GeGLU in float64: Shazeer 2020, equation 6, without the matrices and with the tanh form of GELU.
#include <numbers>

#include "kernels/geglu/geglu_ops.h"

namespace headroom::kernels {

at::Tensor geglu_reference(const at::Tensor& gate, const at::Tensor& up) {
  const at::Tensor g = gate.to(at::kDouble);
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2/π)
  return 0.5 * g * (1 + at::tanh(scale * (g + 0.044715 * g * g * g))) * up.to(at::kDouble);
}

}  // namespace headroom::kernels
