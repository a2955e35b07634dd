// Linear layers and the embedding as autograd functions of our own: each product runs under its own label.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/record/units.h"

namespace headroom::llama {

// y = x Wᵀ. x [..., I], weight [O, I], y [..., O]. Keeps x. In backward, dx = dy W is an activation, dW = dyᵀ x a
// gradient. `output` is the category of y: activations, or logits for the language model head.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight_OI, record::Category output, std::uint16_t op);

// Rows of the table. ids [B, T] int64, weight [V, H], result [B, T, H]. Keeps ids. Its gradient is a whole table [V,
// H].
at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, std::uint16_t op);

}  // namespace headroom::llama
