// The output layer and its cross entropy without storing all logits, on tensors.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"

namespace headroom::kernels {

struct FlceProducts {
  bool tf32 = false;       // see kernels/narrow_product
  bool plans_cpu = false;  // on meta: allocates like the CPU's GEMMs
};

struct FlceOptions {
  FlceMode mode = FlceMode::kChunked;
  std::int64_t chunk = 0;             // tokens (kChunked) or columns (kLean) per part; 0: the default
  bool fp32_weight_gradient = false;  // false: the weight's type
  // Number of rows that are not ignored; only these are multiplied. -1: unknown, or a CUDA graph replayed with other
  // labels; then all rows are multiplied, and ignored ones give exact zeros.
  std::int64_t valid_count = -1;
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;
  Reduction reduction = Reduction::kMean;  // mean or sum
  at::Tensor grad_scale;        // fp32 [], scales only the gradients, so fp16 does not underflow. Undefined: 1
  at::Tensor dweight;           // [V, H], receives the gradient
  bool weight_gradient = true;  // false: a frozen weight
  bool accumulate = false;      // adds to `dweight`
  bool loss_only = false;
  bool dx_over_x = false;  // dx overwrites x (not kLean), which must not be read again
  at::Tensor error_flag;   // as in CrossEntropyOptions
  FlceProducts products;
};

struct FlceOut {
  at::Tensor loss;        // fp32 []
  at::Tensor dx;          // [N, H]; type of x, fp32 for kLean; undefined with loss_only
  at::Tensor dweight;     // [V, H]; undefined for a frozen weight and with loss_only
  at::Tensor error_flag;  // int64 [1]
};

// Loss and both gradients. x_NH, weight_VH: contiguous, of one type (fp32, bf16 or fp16); targets_N int64. Also
// allocates flce_logits_bytes() and flce_scratch_bytes(). CUDA uses the process's cuBLAS workspace; the CPU copies
// 16-bit operands to fp32 for an fp32 result.
FlceOut flce(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
             const FlceOptions& options = {});

// Differentiable, except with loss_only. All GEMMs run in the forward pass; backward multiplies dx and dweight in place
// by upstream / grad_scale (a no-op if that is 1, tested on the device). With options.dweight, autograd gets no weight
// gradient, and an upstream gradient other than grad_scale sets the error flag to kFlagUpstream, since accumulated
// gradients cannot be rescaled.
at::Tensor fused_linear_cross_entropy(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
                                      const FlceOptions& options = {});

struct FlceReference {
  at::Tensor loss, dx, dweight;  // float64
};

FlceReference flce_reference(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
                             const FlceOptions& options = {});

}  // namespace headroom::kernels
