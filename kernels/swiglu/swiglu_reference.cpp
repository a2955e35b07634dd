// SwiGLU in float64: Shazeer 2020, equation 6, without the matrices.
#include "kernels/swiglu/swiglu_ops.h"

namespace headroom::kernels {

at::Tensor swiglu_reference(const at::Tensor& gate, const at::Tensor& up) {
  const at::Tensor g = gate.to(at::kDouble);
  return g * at::sigmoid(g) * up.to(at::kDouble);
}

}  // namespace headroom::kernels
