// Cross entropy of logits with its gradient, on tensors.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

#include "kernels/cross_entropy/cross_entropy.h"

namespace headroom::kernels {

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // rows with this target have loss and gradient 0, and do not count in the mean
  Reduction reduction = Reduction::kMean;
  double label_smoothing = 0;  // ε: the target's share is 1 − ε + ε/V, every other class's ε/V
  bool in_place = false;       // the gradient overwrites the logits
  // Number of rows that are not ignored, which saves the counting pass; -1: unknown.
  std::int64_t valid_count = -1;
  // fp32 [], for mean and sum: scales only the gradient, so fp16 does not underflow. If undefined: 1.
  at::Tensor grad_scale;
  // int64 [1], optional: reports a target outside the vocabulary (see error_text()). It is never cleared, so it can
  // serve many steps. Rows with such a target have loss NaN and gradient 0; the CPU throws instead.
  at::Tensor error_flag;
};

struct CrossEntropyOut {
  at::Tensor loss;        // fp32: [] for mean and sum, [N] for none; 0 if all rows are ignored
  at::Tensor dlogits;     // [N, V]: gradient of the loss (kNone: of its sum); if in_place, in the logits' memory
  at::Tensor error_flag;  // int64 [1], 0: no error
};

// Loss and gradient in one pass over logits_NV (contiguous fp32, bf16 or fp16); targets_N int64.
CrossEntropyOut cross_entropy_forward(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                      const CrossEntropyOptions& options = {});

// The loss alone, in one read. `dlogits` is undefined.
CrossEntropyOut cross_entropy_forward_only(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                           const CrossEntropyOptions& options = {});

// Differentiable. Forward computes the gradient; backward multiplies it in place by the upstream gradient, a no-op if
// that is 1 (tested on the device).
at::Tensor cross_entropy(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                         const CrossEntropyOptions& options = {});

// Describes an error flag, with the row and its target; empty if there is no error. Waits for the device.
std::string error_text(const at::Tensor& error_flag, const at::Tensor& targets_N, std::int64_t vocab);

// gradient *= upstream / made_for, in place on the device; a no-op for factor 1. upstream and made_for each have one
// fp32 number, or one per row; an undefined made_for counts as 1.
void scale_gradient_(const at::Tensor& gradient, const at::Tensor& upstream, const at::Tensor& made_for = {});

struct CrossEntropyReference {
  at::Tensor loss, dlogits;  // float64
};

CrossEntropyReference cross_entropy_reference(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                              const CrossEntropyOptions& options = {});

}  // namespace headroom::kernels
