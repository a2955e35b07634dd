// AdamW on tensors, and the same in plain float64 as the reference.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw.h"

namespace headroom::kernels {

// One weight and what its step reads: contiguous, same shape, same device. The parameter is fp32, bf16 or fp16; the
// gradient of the same type or fp32; both moments fp32 or bf16 (an fp16 second moment would underflow).
struct AdamWParameter {
  at::Tensor param, gradient, first_moment, second_moment;
  bool decays = true;  // false: this weight (a norm, a bias) takes no weight decay
  // Undefined: none. Else a bf16 or fp16 copy of the weight, rounded to nearest and written in the same pass: param is
  // then the fp32 master, and the gradient has the copy's type or fp32.
  at::Tensor working;
  // The weight's number in the random numbers of stochastic rounding; -1: its place in the list. With an explicit
  // number, a weight gets the same bits whether it is stepped alone or with all others.
  std::int64_t number = -1;
};

// What a step reads from the device, so that the host need not know it, and how it rounds. Undefined tensors: nothing.
struct AdamWControl {
  at::Tensor inverse_scale;  // fp32 []: gradients are multiplied by it (1 / loss scale)
  at::Tensor overflow;       // int32 [1]: where it is not 0, nothing at all changes
  // Parameters in bf16 without a master are rounded up or down, with the probability that keeps the mean: by a hash of
  // (seed, t, the weight's number, the element's index), the same bits on CPU and CUDA. Refused for fp16 parameters
  // without a master; fp32 parameters and working copies are not affected.
  bool stochastic_rounding = false;
  std::uint64_t seed = 0;
  // int64 [1]: t, counting from 1, already advanced for this step (advance_step_count_). The bias corrections are then
  // worked out on the device, to the same bits as on the host, and the step's own t is not read: for CUDA graphs.
  at::Tensor step_count;
};

// One step in place over all of them, on CPU, CUDA or meta (where it only checks): one launch for every combination of
// types and 320 tensors. Allocates nothing on any device. Throws c10::Error if the tensors do not fit each other.
void adamw(std::span<const AdamWParameter> parameters, const AdamWStep& step, const AdamWControl& control = {});

// Adds 1 to `counter` (int64 [1]) unless `overflow` (int32 [1], or undefined) is not 0. To be called before the step.
void advance_step_count_(const at::Tensor& counter, const at::Tensor& overflow = {});

struct AdamWReference {
  at::Tensor param, first_moment, second_moment;  // float64
};

// The step as the paper writes it, from plain tensor operations in float64.
AdamWReference adamw_reference(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
                               const at::Tensor& second_moment, double learning_rate, double beta1, double beta2,
                               double epsilon, double weight_decay, std::int64_t t);

}  // namespace headroom::kernels
