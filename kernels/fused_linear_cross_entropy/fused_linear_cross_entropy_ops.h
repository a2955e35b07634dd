// The output layer and its cross entropy without ever holding all logits, on tensors; and plain float64 as reference.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"

namespace headroom::kernels {

struct FlceOptions {
  FlceMode mode = FlceMode::kChunked;
  std::int64_t chunk = 0;  // tokens at a time (kChunked) or columns of the vocabulary (kLean); 0: the mode's default
  bool fp32_weight_gradient = false;  // else dweight has the weight's type
  // Rows that are not ignored, where the host knows them: only these are multiplied. -1: not known, or in a CUDA graph
  // that is replayed with other labels; then all rows are taken, and ignored ones give exact zeros.
  std::int64_t valid_count = -1;
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;
  Reduction reduction = Reduction::kMean;  // mean or sum
  at::Tensor grad_scale;  // fp32 [], same device: the gradients are made for this upstream gradient (a loss scale), so
                          // that fp16 does not underflow; the loss is not multiplied by it. Undefined: 1
  at::Tensor
      dweight;  // where the weight's gradient goes, [V, H]: a tied embedding's or a persistent buffer. Undefined: new
  bool weight_gradient = true;  // false: the weight is frozen, and neither dweight nor the product for it is made
  bool accumulate = false;      // adds to `dweight` instead of overwriting it
  bool loss_only = false;       // no gradient is made, nor a product for one: neither dx nor dweight
  bool dx_over_x = false;       // the input's gradient overwrites x (not kLean): for an x that is not read again
  at::Tensor error_flag;        // as in CrossEntropyOptions
  bool search = true;           // time a few cuBLASLt algorithms once per shape; false: take the first it proposes
  bool tf32 = false;            // fp32 operands are multiplied as tf32: see kernels/narrow_product
  bool plans_cpu = false;       // on meta: allocates what the CPU's products do, which widen 16 bits for an fp32 result
};

struct FlceOut {
  at::Tensor loss;        // fp32 []
  at::Tensor dx;          // [N, H]; type of x, fp32 for kLean; undefined with loss_only
  at::Tensor dweight;     // [V, H]; undefined for a frozen weight and with loss_only
  at::Tensor error_flag;  // int64 [1]
};

// Loss and both gradients, for upstream gradient `grad_scale`. x_NH, weight_VH: contiguous, one type of fp32, bf16, fp16;
// targets_N int64. CPU, CUDA, meta. Beside dx and dweight it holds flce_workspace_bytes() (and on CUDA the process's
// shared cuBLAS workspace; on the CPU, where the results of 16 bits are fp32, copies of the operands in fp32).
FlceOut flce(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
             const FlceOptions& options = {});

// With autograd, and not with loss_only: all products run in the forward pass. The backward pass hands out dx and dweight, multiplied in place by
// upstream / grad_scale (nothing is moved when that is 1, which the device finds out). With options.dweight given the
// weight's gradient stays there and autograd gets none for it; an upstream other than grad_scale then raises the error
// flag to kFlagUpstream, as what was accumulated cannot be scaled any more.
at::Tensor fused_linear_cross_entropy(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
                                      const FlceOptions& options = {});

struct FlceReference {
  at::Tensor loss, dx, dweight;  // float64
};

FlceReference flce_reference(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
                             const FlceOptions& options = {});

}  // namespace headroom::kernels
