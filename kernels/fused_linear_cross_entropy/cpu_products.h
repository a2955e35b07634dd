// The fused linear cross entropy on the CPU.
#pragma once

#include <ATen/ATen.h>

#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"

namespace headroom::kernels {

// FlceMemory as tensors, for LibTorch's GEMMs.
struct FlceTensors {
  at::Tensor x, weight, targets, grad_scale;  // grad_scale is optional
  at::Tensor loss, dx, dweight, error_flag;   // dweight undefined for a frozen weight
  at::Tensor logits;                          // [rows, stride]
  at::Tensor scratch;                         // bytes
};

// Like flce_cuda(). On meta runs only the GEMMs, which allocate as on the CPU. Throws c10::Error for a target outside
// the vocabulary or a wrong count of valid rows.
void flce_cpu(const FlceProblem& problem, const FlceTensors& tensors);

}  // namespace headroom::kernels
