// LayerNorm on tensors, with its gradients, and the same in plain float64 as the reference.
#pragma once

#include <ATen/ATen.h>

#include "kernels/row_norm/norm_gradients.h"

namespace headroom::kernels {

// Shapes, types and errors as in rms_norm_ops.h; bias_H is as weight_H.

struct LayerNormOut {
  at::Tensor y;     // as x
  at::Tensor mean;  // [rows] fp32
  at::Tensor rstd;  // [rows] fp32: 1 / √(mean((x − mean)²) + ε)
};
LayerNormOut layer_norm_forward(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H,
                                double epsilon);

// `overwrite_dy`: dx takes dy's memory, and dy is lost. The partial sums of both gradients, [2, min(rows, 320), H] fp32,
// live during the call.
NormGradients layer_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight_H,
                                  const at::Tensor& mean, const at::Tensor& rstd, bool overwrite_dy);

// y with gradients for x, weight and bias; keeps x, mean and rstd for backward.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H, double epsilon);

// The formula from plain tensor operations in float64; differentiable.
at::Tensor layer_norm_reference(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H,
                                double epsilon);

}  // namespace headroom::kernels
