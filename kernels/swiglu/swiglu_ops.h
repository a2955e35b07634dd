// SwiGLU on tensors; see gated_ops.h.
#pragma once

#include <ATen/ATen.h>

#include "kernels/gated/gated_ops.h"

namespace headroom::kernels {

// silu(x) = x / (1 + e^−x).
at::Tensor swiglu_forward(const at::Tensor& gate, const at::Tensor& up);

GatedGradients swiglu_backward(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up, bool rebuild_h,
                               bool in_place);

// Differentiable; keeps gate and up, not h.
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

// In float64.
at::Tensor swiglu_reference(const at::Tensor& gate, const at::Tensor& up);

}  // namespace headroom::kernels
