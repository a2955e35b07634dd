// SwiGLU as Shazeer writes it (equation 6, without the matrices), in float64.
#include "kernels/swiglu/swiglu_ops.h"

namespace headroom::kernels {

at::Tensor swiglu_reference(const at::Tensor& gate, const at::Tensor& up) {
  const at::Tensor g = gate.to(at::kDouble);
  return g * at::sigmoid(g) * up.to(at::kDouble);
}

}  // namespace headroom::kernels
