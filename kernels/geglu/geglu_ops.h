// GeGLU on tensors, in the tanh form; see gated_ops.h.
#pragma once

#include <ATen/ATen.h>

#include "kernels/gated/gated_ops.h"

namespace headroom::kernels {

// gelu(x) = ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))).
at::Tensor geglu_forward(const at::Tensor& gate, const at::Tensor& up);

GatedGradients geglu_backward(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up, bool rebuild_h,
                              bool in_place);

// Differentiable; keeps gate and up, not h.
at::Tensor geglu(const at::Tensor& gate, const at::Tensor& up);

// In float64.
at::Tensor geglu_reference(const at::Tensor& gate, const at::Tensor& up);

}  // namespace headroom::kernels
