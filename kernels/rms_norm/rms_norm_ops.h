// RMSNorm on tensors with gradients.
#pragma once

#include <ATen/ATen.h>

#include "kernels/row_norm/norm_gradients.h"

namespace headroom::kernels {

// On meta these functions only check and allocate. x is [..., H] and contiguous, weight_H [H]; both fp32, bf16 or fp16,
// of one type on one device. Arithmetic is fp32. Tensors that do not fit throw c10::Error.

struct RmsNormOut {
  at::Tensor y;     // like x
  at::Tensor rstd;  // [rows] fp32: 1 / √(mean(x²) + ε)
};
RmsNormOut rms_norm_forward(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

// `d_sum` (optional), the gradient that reaches x around the norm, is added to dx. `overwrite_dy`: dx reuses dy's
// memory. Partial sums, [min(rows, 320), H] fp32, live during the call.
NormGradients rms_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight_H,
                                const at::Tensor& rstd, const at::Tensor& d_sum, bool overwrite_dy);

// Recomputes y bit for bit from the tensors kept for backward.
at::Tensor rms_norm_rebuild(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& rstd);

// Differentiable; keeps x and rstd.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

// In float64, differentiable.
at::Tensor rms_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

}  // namespace headroom::kernels
