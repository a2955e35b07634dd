// Linear layers and the embedding as our autograd functions: each matrix multiplication runs under its own label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/projection.h"
#include "demos/record/units.h"

namespace headroom::llama {

// What a product in fp8 keeps of its input for its weight's gradient: a byte per element, or the input itself, where
// something else keeps that anyway or makes it again. As stored it is always the input.
enum class InputKept : std::uint8_t { kCodes, kItself };

// y of a projection. x [..., I], y [..., O]. Keeps x if the weight is trained or has an adapter, and then x Aᵀ. In
// backward, dx is an activation, dW, db, dA and dB are gradients. `output` is the category of y: activations, or logits
// for the language model head.
at::Tensor linear(const at::Tensor& x, const Projection& projection, record::Category output,
                  InputKept kept = InputKept::kCodes);
// Of several projections of one x.
std::vector<at::Tensor> linears(const at::Tensor& x, std::span<const Projection> projections, record::Category output,
                                InputKept kept);
// For the graph alone: y is unmade.
at::Tensor linear_for_backward(const at::Tensor& x, const Projection& projection);

// Rows of the table. ids [B, T] int64, weight [V, H], result [B, T, H]. Keeps ids. Its gradient is a whole table [V, H];
// `fused`: by the kernel of kernels/embedding_backward, which adds to the weight's `.grad` where there is one (a tied
// head's), and needs no second table. A frozen table gets none; backward comes to the result all the same, because
// adapters behind it are trained.
at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, bool fused, std::uint16_t op,
                     record::DeviceKind target = record::DeviceKind::kCpu);

}  // namespace headroom::llama
