// Parts of a layer around the fused kernels. Backward recomputes what it can, unless `keep` is set.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/attention.h"
#include "demos/engine/llama/model/projection.h"

namespace headroom::llama {

using predict::FusedKernels;

struct NormedProducts {
  at::Tensor stream;            // x, or x + residual
  std::array<at::Tensor, 3> y;  // undefined: no such projection
};

struct NormedWeights {
  at::Tensor norm_H;
  std::uint16_t norm_op = 0;
  std::vector<Projection> projections;
};

// RMSNorm of x (+ residual, which may be undefined) and the projections of its result, as one graph node. Keeps the
// stream and one fp32 number per row. Unless `keep` is set, backward recomputes the normed stream if a projection needs
// it. Backward sums the projections' gradients of the normed stream, and adds the stream's own gradient in the norm's
// kernel. After the norm, use `stream`, not x.
NormedProducts fused_norm_products(const at::Tensor& x, const at::Tensor& residual, const NormedWeights& w, double eps,
                                   bool keep);

// norm(x). Keeps x and one fp32 number per row.
at::Tensor fused_norm(const at::Tensor& x, const at::Tensor& norm_H, double eps, std::uint16_t op);

// The projection of h = silu(gate) ⊙ up. Keeps gate and up, and h if `keep` is set; else backward recomputes h if the
// projection needs it. Backward overwrites gate and up with their gradients, so nothing else may refer to them.
// `for_backward`: the result is unmade, and so is h unless it is kept or an adapter reads it. Shazeer 2020,
// arXiv:2002.05202.
at::Tensor fused_swiglu_product(const at::Tensor& gate_BTF, const at::Tensor& up_BTF, const Projection& down,
                                std::uint16_t swiglu_op, bool keep, bool for_backward);

}  // namespace headroom::llama
