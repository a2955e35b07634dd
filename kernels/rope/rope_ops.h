// Rotary position embedding on tensors: queries and keys in one launch, in place.
#pragma once

#include <utility>

#include <ATen/ATen.h>

namespace headroom::kernels {

// Rotates pairs (j, j + D/2) of every head of q [B, T, A, D] and k [B, T, K, D] by the angle of their position, in
// place on CPU, CUDA or meta (where it only checks); `inverse` turns back, which is the gradient. cos, sin: fp32
// [T, D/2], contiguous. Strides of B, T and heads are free (views of a packed QKV product); the last dimension is
// contiguous. fp32, bf16 or fp16. Allocates nothing. Throws c10::Error if the tensors do not fit each other.
void rope_apply_(const at::Tensor& q_BTAD, const at::Tensor& k_BTKD, const at::Tensor& cos_TD2,
                 const at::Tensor& sin_TD2, bool inverse);

// The same with a gradient. The results are in q's and k's memory, which must not be read under its old name again;
// views are taken. The gradient is turned in place if this is its only reference, else in a copy.
std::pair<at::Tensor, at::Tensor> rope_(const at::Tensor& q_BTAD, const at::Tensor& k_BTKD, const at::Tensor& cos_TD2,
                                        const at::Tensor& sin_TD2);

// The rotation in float64 from plain operators: (x₁ cos − x₂ sin, x₂ cos + x₁ sin).
at::Tensor rope_reference(const at::Tensor& x_BTAD, const at::Tensor& cos_TD2, const at::Tensor& sin_TD2);

}  // namespace headroom::kernels
