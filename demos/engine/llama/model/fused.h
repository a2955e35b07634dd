// Pieces of a layer around the fused kernels: what backward can build again is kept only where `keep` says so.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/attention.h"
#include "demos/engine/llama/model/projection.h"

namespace headroom::llama {

using predict::FusedKernels;

// The residual stream behind a norm, and the products that read the normed stream.
struct NormedProducts {
  at::Tensor stream;            // x, or x + residual
  std::array<at::Tensor, 3> y;  // of norm(stream); undefined where there is no such projection
};

// A norm and the two or three projections that read what it gives.
struct NormedWeights {
  at::Tensor norm_H;
  std::uint16_t norm_op = 0;
  std::vector<Projection> projections;
};

// RMSNorm of x (+ residual, which may be undefined) and the products behind it as one node of the graph. Keeps the
// stream and one fp32 per row; backward builds the normed stream again where something is trained, or has it with `keep`,
// sums the products' gradients where they arise, and adds the gradient that came along the stream in the norm's own pass.
// Use `stream` for everything behind the norm.
NormedProducts fused_norm_products(const at::Tensor& x, const at::Tensor& residual, const NormedWeights& w, double eps,
                                   bool keep);

// norm(x), keeping x and one fp32 per row.
at::Tensor fused_norm(const at::Tensor& x, const at::Tensor& norm_H, double eps, std::uint16_t op);

// The projection of silu(gate) ⊙ up. Keeps gate and up; backward builds the product again where something is trained, or
// has it with `keep`, and overwrites gate and up with their gradients, so these must be the only references to them.
// `for_backward`: the result is unmade, and so is silu(gate) ⊙ up where it would neither be kept nor go to an adapter.
// Shazeer 2020, arXiv:2002.05202.
at::Tensor fused_swiglu_product(const at::Tensor& gate_BTF, const at::Tensor& up_BTF, const Projection& down,
                                std::uint16_t swiglu_op, bool keep, bool for_backward);

}  // namespace headroom::llama
