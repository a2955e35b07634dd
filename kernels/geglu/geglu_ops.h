// GeGLU on tensors, with the tanh form of GELU. Arguments and errors are described in gated_ops.h.
#pragma once

#include <ATen/ATen.h>

#include "kernels/gated/gated_ops.h"

namespace headroom::kernels {

// gelu(gate) ⊙ up, gelu(x) = ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))).
at::Tensor geglu_forward(const at::Tensor& gate, const at::Tensor& up);

GatedGradients geglu_backward(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up, bool rebuild_h,
                              bool in_place);

// Differentiable; keeps gate and up, not h.
at::Tensor geglu(const at::Tensor& gate, const at::Tensor& up);

// In float64.
at::Tensor geglu_reference(const at::Tensor& gate, const at::Tensor& up);

}  // namespace headroom::kernels
