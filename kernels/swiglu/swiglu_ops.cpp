// SwiGLU on tensors.
#include "kernels/swiglu/swiglu_ops.h"

#include "kernels/swiglu/swiglu.h"

namespace headroom::kernels {

at::Tensor swiglu_forward(const at::Tensor& gate, const at::Tensor& up) {
  return gated_forward(kSwigluKernels, gate, up);
}

GatedGradients swiglu_backward(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up, bool rebuild_h,
                               bool in_place) {
  return gated_backward(kSwigluKernels, dh, gate, up, rebuild_h, in_place);
}

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) { return gated(kSwigluKernels, gate, up); }

// Shazeer 2020, equation 6, without the matrices.
at::Tensor swiglu_reference(const at::Tensor& gate, const at::Tensor& up) {
  const at::Tensor g = gate.to(at::kDouble);
  return g * at::sigmoid(g) * up.to(at::kDouble);
}

}  // namespace headroom::kernels
