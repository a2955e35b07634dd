// AdamW on tensors, and the same in plain float64 as the reference.
#pragma once

#include <ATen/ATen.h>

#include "kernels/adamw/adamw.h"

namespace headroom::kernels {

// One step in place on CPU, CUDA or meta (where it only checks). All four tensors: contiguous, same shape, same device,
// fp32 or bf16. Allocates nothing on any device. Throws c10::Error if the tensors do not fit each other.
void adamw(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
           const at::Tensor& second_moment, const AdamWStep& step);

struct AdamWReference {
  at::Tensor param, first_moment, second_moment;  // float64
};

// The step as the paper writes it, from plain tensor operations in float64.
AdamWReference adamw_reference(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
                               const at::Tensor& second_moment, double learning_rate, double beta1, double beta2,
                               double epsilon, double weight_decay, std::int64_t t);

}  // namespace headroom::kernels
