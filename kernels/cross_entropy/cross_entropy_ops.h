// Cross entropy of logits with its gradient, on tensors; and the same in plain float64 as the reference.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

#include "kernels/cross_entropy/cross_entropy.h"

namespace headroom::kernels {

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // rows with this target have loss 0 and gradient 0, and do not count in the mean
  Reduction reduction = Reduction::kMean;
  double label_smoothing = 0;  // ε: the target's share is 1 − ε + ε/V, every other class's ε/V
  bool in_place = false;       // the gradient overwrites the logits
  // Rows that are not ignored, where the host knows them (it made the labels): saves the pass that counts. -1: counted.
  std::int64_t valid_count = -1;
  // fp32 [], same device, for mean and sum: the gradient is made for this upstream gradient (a loss scale), so that fp16
  // does not underflow; the loss is not multiplied by it. Undefined: 1.
  at::Tensor grad_scale;
  // Where to report a target outside the vocabulary, int64 [1] (see error_text); never cleared here, so that one may
  // serve many steps. Undefined: a new one. Rows with such a target have loss NaN and gradient 0. On the CPU it throws.
  at::Tensor error_flag;
};

struct CrossEntropyOut {
  at::Tensor loss;        // fp32: [] for mean and sum, [N] for none. All rows ignored: 0
  at::Tensor dlogits;     // [N, V], type of the logits: gradient of the (summed, for none) loss; in place: the logits
  at::Tensor error_flag;  // int64 [1], 0: no error
};

// Loss and gradient in one pass over logits_NV (contiguous fp32, bf16 or fp16); targets_N int64. CPU, CUDA, meta.
CrossEntropyOut cross_entropy_forward(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                      const CrossEntropyOptions& options = {});

// The loss alone; the logits are read once and left as they are. `dlogits` of the result is undefined.
CrossEntropyOut cross_entropy_forward_only(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                           const CrossEntropyOptions& options = {});

// With autograd: the gradient is made in the forward pass; the backward pass multiplies it by the upstream gradient, in
// place, and moves nothing when that is 1 (found out on the device, without a wait).
at::Tensor cross_entropy(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                         const CrossEntropyOptions& options = {});

// What an error flag says, as a sentence that names the row and its target; empty: no error. Waits for the device.
std::string error_text(const at::Tensor& error_flag, const at::Tensor& targets_N, std::int64_t vocab);

// gradient *= upstream / made_for, on the device and in place; nothing is moved where the factor is 1. `upstream` is one
// fp32 number or one per row; `made_for` one fp32 number, or undefined for 1.
void scale_gradient_(const at::Tensor& gradient, const at::Tensor& upstream, const at::Tensor& made_for = {});

struct CrossEntropyReference {
  at::Tensor loss, dlogits;  // float64
};

CrossEntropyReference cross_entropy_reference(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                              const CrossEntropyOptions& options = {});

}  // namespace headroom::kernels
