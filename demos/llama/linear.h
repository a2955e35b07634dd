// Linear layers and the embedding as autograd functions of our own: each product runs under its own label.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/record/units.h"

namespace headroom::llama {

// y = x Wᵀ. x [..., I], weight [O, I], y [..., O]. Keeps x. In backward, dx = dy W is an activation, dW = dyᵀ x a
// gradient. `output` is the category of y: activations, or logits for the language model head.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight_OI, record::Category output, std::uint16_t op);

// a [N, M] times b [M, P] as [shape..., P]: the result is allocated whole, so that no view of it goes into the graph.
at::Tensor product(const at::Tensor& a_NM, const at::Tensor& b_MP, at::IntArrayRef shape);

// Rows of the table. ids [B, T] int64, weight [V, H], result [B, T, H]. Keeps ids. Its gradient is a whole table [V, H];
// `fused`: by the kernel of kernels/embedding_backward, which adds to the weight's `.grad` where there is one (a tied
// head's), and needs no second table.
at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, bool fused, std::uint16_t op);

}  // namespace headroom::llama
