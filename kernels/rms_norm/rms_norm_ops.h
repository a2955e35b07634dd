// RMSNorm on tensors, with its gradients, and the same in plain float64 as the reference.
#pragma once

#include <ATen/ATen.h>

#include "kernels/row_norm/norm_gradients.h"

namespace headroom::kernels {

// All of these work on CPU, CUDA and meta (where they check and allocate, and compute nothing). x is [..., H] and
// contiguous, weight_H [H]; both fp32, bf16 or fp16, of one type on one device. A row is the last dimension. Arithmetic
// is fp32. Throws c10::Error with one sentence where tensors do not fit.

struct RmsNormOut {
  at::Tensor y;     // as x
  at::Tensor rstd;  // [rows] fp32: 1 / √(mean(x²) + ε)
};
RmsNormOut rms_norm_forward(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

// `d_sum`, where defined, is added to dx in the same pass: the gradient that reaches x around the norm.
// `overwrite_dy`: dx takes dy's memory, and dy is lost. The partial sums of the weight's gradient, [min(rows, 320), H]
// fp32, live during the call.
NormGradients rms_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight_H,
                                const at::Tensor& rstd, const at::Tensor& d_sum, bool overwrite_dy);

// y again, bit for bit, from what backward keeps: so that y itself need not be kept.
at::Tensor rms_norm_rebuild(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& rstd);

// y with gradients for x and weight; keeps x and rstd for backward, not y.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

// The formula from plain tensor operations in float64; differentiable.
at::Tensor rms_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

}  // namespace headroom::kernels
