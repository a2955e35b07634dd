// GeGLU on tensors.
#include "kernels/geglu/geglu_ops.h"

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

}  // namespace headroom::kernels
