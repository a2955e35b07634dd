// Searches gradients for inf and NaN, updates the dynamic loss scale and finds the factor that clips gradients; the
// host never waits.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ATen.h>

#include "kernels/gradient_check/gradient_norm.h"

namespace headroom::kernels {

// Sets `overflow` (int32 [1]) to 1 if any gradient has inf or NaN; never clears it. Gradients are contiguous, fp32,
// bf16 or fp16, on overflow's device; undefined ones are skipped. One launch per type and 1024 tensors; none on meta.
void check_finite_(std::span<const at::Tensor> gradients, const at::Tensor& overflow);

// Dynamic loss scaling (Micikevicius et al. 2018, arXiv:1710.03740, section 3.2, with the rule of NVIDIA's guide):
// after an overflow the scale is multiplied by `backoff`, but stays at least `least`. After `growth_interval` steps in
// a row without an overflow it is multiplied by `growth`, unless it would leave fp32.
//   scale, inverse_scale   fp32 []; the second becomes 1 / the first
//   good_steps             int32 [1]: steps without overflow since the scale last changed
//   overflow               int32 [1]: 0 afterwards
//   skipped                int64 [1]: counts overflows
// All are on one device. Call this once per step, after the optimizer has read these tensors. One launch.
void update_loss_scale_(const at::Tensor& scale, const at::Tensor& inverse_scale, const at::Tensor& good_steps,
                        const at::Tensor& overflow, const at::Tensor& skipped, std::int64_t growth_interval,
                        double growth = 2, double backoff = 0.5, double least = 1);

// factor (fp32 []) = inverse_scale · min(1, most / (norm · inverse_scale + 1e-6)), with the norm of all gradients
// together. `inverse_scale` (fp32 [], undefined: 1) removes a loss scale. Gradients are as in check_finite_(). `sums`
// is fp64 scratch of norm_blocks() per gradient. On meta, only checks.
void clip_factor_(std::span<const at::Tensor> gradients, double most, const at::Tensor& inverse_scale,
                  const at::Tensor& sums, const at::Tensor& factor);
// The two halves of clip_factor_(), between which ranks add up their sums. The first writes the beginning of `sums`.
void sums_of_squares_(std::span<const at::Tensor> gradients, const at::Tensor& sums);
void clip_factor_of_(const at::Tensor& sums, double most, const at::Tensor& inverse_scale, const at::Tensor& factor);

}  // namespace headroom::kernels
