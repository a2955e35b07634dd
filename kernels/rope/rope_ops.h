// Rotary position embedding on tensors.
#pragma once

#include <utility>

#include <ATen/ATen.h>

namespace headroom::kernels {

// Rotates pairs (j, j + D/2) of every head of q [B, T, A, D] and k [B, T, K, D], in place. `inverse` rotates back,
// which is the gradient. q and k are fp32, bf16 or fp16, with free strides except D's; cos, sin are fp32 [T, D/2],
// contiguous. On meta it only checks. Throws c10::Error if tensors do not fit.
void rope_apply_(const at::Tensor& q_BTAD, const at::Tensor& k_BTKD, const at::Tensor& cos_TD2,
                 const at::Tensor& sin_TD2, bool inverse);

// Differentiable. The results share the memory of q and k, which may be views and must not be read again. The gradient
// is rotated in place if it has no other reference, otherwise in a copy.
std::pair<at::Tensor, at::Tensor> rope_(const at::Tensor& q_BTAD, const at::Tensor& k_BTKD, const at::Tensor& cos_TD2,
                                        const at::Tensor& sin_TD2);

// In float64.
at::Tensor rope_reference(const at::Tensor& x_BTAD, const at::Tensor& cos_TD2, const at::Tensor& sin_TD2);

}  // namespace headroom::kernels
