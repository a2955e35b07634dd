// Linear layers and the embedding as autograd functions with labeled GEMMs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/projection.h"
#include "demos/record/units.h"

namespace headroom::llama {

// An fp8 GEMM keeps one-byte codes of its input, or the input itself if something else keeps or recomputes it. Other
// formats keep the input.
enum class InputKept : std::uint8_t { kCodes, kItself };

// Returns y of a projection. x [..., I], y [..., O]. Keeps x if the weight is trained or has an adapter; with an
// adapter also x Aᵀ. Backward labels dx as an activation, and dW, db, dA and dB as gradients. `output`: category of y.
at::Tensor linear(const at::Tensor& x, const Projection& projection, record::Category output,
                  InputKept kept = InputKept::kCodes);
std::vector<at::Tensor> linears(const at::Tensor& x, std::span<const Projection> projections, record::Category output,
                                InputKept kept);
// Builds only the graph: y is unmade.
at::Tensor linear_for_backward(const at::Tensor& x, const Projection& projection);

// Returns rows of the table. ids are int64, the result is [B, T, H]. Keeps ids. The gradient is a full table [V, H];
// with `fused` it is added to an existing `.grad` (a tied head's), without a second table. A frozen table gets no
// gradient, but backward reaches the result, for adapters after it.
at::Tensor embedding(const at::Tensor& weight_VH, const at::Tensor& ids_BT, bool fused, std::uint16_t op,
                     record::DeviceKind target = record::DeviceKind::kCpu);

}  // namespace headroom::llama
