// The factor that clips gradients by their global norm; the host never waits.
#pragma once

#include <span>

#include <ATen/ATen.h>

#include "kernels/gradient_check/gradient_norm.h"

namespace headroom::kernels {

// factor (fp32 []) = inverse_scale · min(1, most / (norm · inverse_scale + 1e-6)), with the norm of all gradients
// together. `inverse_scale` (fp32 [], undefined: 1) removes a loss scale. Gradients are contiguous, fp32, bf16 or
// fp16, on the factor's device; undefined ones are skipped. `sums` is fp64 scratch of norm_blocks() per gradient. On
// meta it only checks.
void clip_factor_(std::span<const at::Tensor> gradients, double most, const at::Tensor& inverse_scale,
                  const at::Tensor& sums, const at::Tensor& factor);

}  // namespace headroom::kernels
