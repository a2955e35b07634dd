// LayerNorm on tensors with gradients.
#pragma once

#include <ATen/ATen.h>

#include "kernels/row_norm/norm_gradients.h"

namespace headroom::kernels {

// Shapes, types and errors as in rms_norm_ops.h; bias_H is like weight_H.

struct LayerNormOut {
  at::Tensor y;     // like x
  at::Tensor mean;  // [rows] fp32
  at::Tensor rstd;  // [rows] fp32: 1 / √(mean((x − mean)²) + ε)
};
LayerNormOut layer_norm_forward(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H,
                                double epsilon);

// Like rms_norm_backward(), but partial sums are [2, min(rows, 320), H].
NormGradients layer_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight_H,
                                  const at::Tensor& mean, const at::Tensor& rstd, bool overwrite_dy);

// Differentiable; keeps x, mean and rstd.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H, double epsilon);

// In float64, differentiable.
at::Tensor layer_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H,
                                double epsilon);

}  // namespace headroom::kernels
