// The fused linear cross entropy on the CPU: products by LibTorch, everything between them fused.
#pragma once

#include <ATen/ATen.h>

#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"

namespace headroom::kernels {

// What flce_ops.cpp allocates, and what the products take as tensors.
struct FlceTensors {
  at::Tensor x, weight, targets, grad_scale;  // grad_scale may be undefined
  at::Tensor loss, dx, dweight, error_flag;   // dweight undefined for a frozen weight
  at::Tensor logits;                          // [rows, stride]
  at::Tensor scratch;                         // bytes
};

// As flce_cuda. On meta tensors it makes the products alone, which allocate there what they do on the CPU. Throws c10::Error
// for a target outside the vocabulary and for a wrong count of valid rows.
void flce_cpu(const FlceProblem& problem, const FlceTensors& tensors);

}  // namespace headroom::kernels
