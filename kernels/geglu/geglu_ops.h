// GeGLU on tensors, with the tanh form of GELU.
#pragma once

#include <ATen/ATen.h>

#include "kernels/gated/gated_ops.h"

namespace headroom::kernels {

// All: any shape, gate and up alike and contiguous; fp32, bf16 or fp16; CPU, CUDA, or meta (where they allocate and
// launch nothing). Throw c10::Error if the tensors do not fit each other.

// h = gelu(gate) ⊙ up, gelu(x) = ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))).
at::Tensor geglu_forward(const at::Tensor& gate, const at::Tensor& up);

// rebuild_h: also h, in the same pass, for the weight gradient of the product behind it. in_place: dgate over gate, dup
// over up and, where asked for, h over dh; nothing is allocated.
GatedGradients geglu_backward(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up, bool rebuild_h,
                              bool in_place);

// With a gradient. Keeps gate and up, not h.
at::Tensor geglu(const at::Tensor& gate, const at::Tensor& up);

// The formula in float64 from plain operators.
at::Tensor geglu_reference(const at::Tensor& gate, const at::Tensor& up);

}  // namespace headroom::kernels
