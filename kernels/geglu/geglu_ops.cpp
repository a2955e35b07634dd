// GeGLU on tensors.
#include "kernels/geglu/geglu_ops.h"

#include <numbers>

#include "kernels/geglu/geglu.h"

namespace headroom::kernels {

at::Tensor geglu_forward(const at::Tensor& gate, const at::Tensor& up) {
  return gated_forward(kGegluKernels, gate, up);
}

GatedGradients geglu_backward(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up, bool rebuild_h,
                              bool in_place) {
  return gated_backward(kGegluKernels, dh, gate, up, rebuild_h, in_place);
}

at::Tensor geglu(const at::Tensor& gate, const at::Tensor& up) { return gated(kGegluKernels, gate, up); }

// Shazeer 2020, equation 6, without the matrices and with the tanh form of GELU.
at::Tensor geglu_reference(const at::Tensor& gate, const at::Tensor& up) {
  const at::Tensor g = gate.to(at::kDouble);
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2/π)
  return 0.5 * g * (1 + at::tanh(scale * (g + 0.044715 * g * g * g))) * up.to(at::kDouble);
}

}  // namespace headroom::kernels
