// The factor that clips gradients by their global norm, worked out on their device, without the host ever waiting for it.
#pragma once

#include <span>

#include <ATen/ATen.h>

#include "kernels/gradient_check/gradient_norm.h"

namespace headroom::kernels {

// factor (fp32 []) = inverse_scale · min(1, most / (norm · inverse_scale + 1e-6)), where `norm` is that of all elements of
// all gradients together: what they are to be multiplied by. `inverse_scale` (fp32 [], undefined: 1) takes a loss scale
// off. Gradients are contiguous, fp32, bf16 or fp16, on the factor's device; undefined ones do not count. `sums`: fp64, at
// least norm_blocks() of each gradient, all overwritten. Allocates nothing; on meta it only checks.
void clip_factor_(std::span<const at::Tensor> gradients, double most, const at::Tensor& inverse_scale,
                  const at::Tensor& sums, const at::Tensor& factor);

}  // namespace headroom::kernels
