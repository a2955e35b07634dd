// Residual addition and RMSNorm in one pass, on tensors.
#pragma once

#include <utility>

#include <ATen/ATen.h>

#include "kernels/rms_norm/rms_norm_ops.h"

namespace headroom::kernels {

// Shapes, types and errors as in rms_norm_ops.h; residual is like x.

struct AddRmsNormOut {
  at::Tensor sum;   // x + residual, rounded to storage
  at::Tensor y;     // the norm of the rounded sum
  at::Tensor rstd;  // [rows] fp32: 1 / √(mean(sum²) + ε)
};
// The backward pass is rms_norm_backward() on the sum, with d_sum; its dx is the gradient of both x and the residual.
AddRmsNormOut add_rms_norm_forward(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight_H,
                                   double epsilon);

// Differentiable; keeps sum and rstd.
std::pair<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& x, const at::Tensor& residual,
                                               const at::Tensor& weight_H, double epsilon);

// In float64, differentiable.
std::pair<at::Tensor, at::Tensor> add_rms_norm_reference(const at::Tensor& x, const at::Tensor& residual,
                                                         const at::Tensor& weight_H, double epsilon);

}  // namespace headroom::kernels
