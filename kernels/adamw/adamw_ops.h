// AdamW on tensors, and the same in plain float64 as the reference.
#pragma once

#include <span>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw.h"

namespace headroom::kernels {

// One weight and what its step reads: contiguous, same shape, same device. The parameter is fp32, bf16 or fp16; the
// gradient of the same type or fp32; both moments fp32 or bf16 (an fp16 second moment would underflow).
struct AdamWParameter {
  at::Tensor param, gradient, first_moment, second_moment;
  bool decays = true;  // false: this weight (a norm, a bias) takes no weight decay
};

// One step in place over all of them, on CPU, CUDA or meta (where it only checks): one launch for every combination of
// types and 320 tensors. Allocates nothing on any device. Throws c10::Error if the tensors do not fit each other.
void adamw(std::span<const AdamWParameter> parameters, const AdamWStep& step);

struct AdamWReference {
  at::Tensor param, first_moment, second_moment;  // float64
};

// The step as the paper writes it, from plain tensor operations in float64.
AdamWReference adamw_reference(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
                               const at::Tensor& second_moment, double learning_rate, double beta1, double beta2,
                               double epsilon, double weight_decay, std::int64_t t);

}  // namespace headroom::kernels
