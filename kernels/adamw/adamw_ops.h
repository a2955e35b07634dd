// AdamW on tensors.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw.h"

namespace headroom::kernels {

// A weight and its state: contiguous, same shape, same device. The parameter is fp32, bf16 or fp16; the gradient has
// the parameter's type or fp32; the moments are fp32 or bf16.
struct AdamWParameter {
  at::Tensor param, gradient, first_moment, second_moment;
  bool decays = true;  // false for norms and biases
  // Optional bf16 or fp16 copy of param, rounded to nearest in the same pass. With a copy, param is the fp32 master,
  // and the gradient has the copy's type or fp32.
  at::Tensor working;
  // Selects the random numbers of stochastic rounding; -1: the weight's place in the list. An explicit number gives a
  // weight the same bits whether it is stepped alone or with others.
  std::int64_t number = -1;
};

// Optional values that only the device needs to know.
struct AdamWControl {
  at::Tensor inverse_scale;  // fp32 []: 1 / loss scale
  at::Tensor overflow;       // int32 [1]: if not 0, nothing changes
  // Rounds bf16 parameters up or down at random, which keeps the mean. A hash of (seed, t, number, element) gives the
  // same bits on CPU and CUDA. Throws for fp16 parameters; ignored for fp32 parameters and working copies.
  bool stochastic_rounding = false;
  std::uint64_t seed = 0;
  // int64 [1], for CUDA graphs: t, already advanced for this step. The device then computes the bias corrections, bit
  // for bit like the host, and ignores AdamWStep's t.
  at::Tensor step_count;
};

// One step in place on CPU, CUDA or meta (which only checks). Each launch covers up to 320 tensors of the same types.
// Allocates nothing. Throws c10::Error if tensors do not fit.
void adamw(std::span<const AdamWParameter> parameters, const AdamWStep& step, const AdamWControl& control = {});

// Adds 1 to `counter` (int64 [1]) unless `overflow` (int32 [1], optional) is nonzero. Call it before the step.
void advance_step_count_(const at::Tensor& counter, const at::Tensor& overflow = {});

struct AdamWReference {
  at::Tensor param, first_moment, second_moment;  // float64
};

// The paper's step in float64.
AdamWReference adamw_reference(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
                               const at::Tensor& second_moment, double learning_rate, double beta1, double beta2,
                               double epsilon, double weight_decay, std::int64_t t);

}  // namespace headroom::kernels
