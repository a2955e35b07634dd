// What the RoPE kernel computes and moves.
#include "kernels/kernel.h"

namespace headroom::kernels {

namespace {

// Reads and writes q and k; the table stays in caches. The gradient is the same turned back. Worked example: 8192
// tokens · (32 + 8) heads · 128 in bf16: 2 · 2 B · 4.19e7 = 168e6 B.
std::int64_t bytes(const Shape& shape, Pass, std::int64_t element_bytes) {
  return 2 * shape.rows * shape.width * element_bytes;
}

// A pair: four products, a sum, a difference.
std::int64_t flops(const Shape& shape, Pass) { return 3 * shape.rows * shape.width; }

}  // namespace

extern const KernelInfo kRope;
constinit const KernelInfo kRope = {
    .id = "rope",
    .title = "RoPE",
    .formula = "(x_j, x_{j+D/2}) ← (x_j cos tθ_j − x_{j+D/2} sin tθ_j, x_{j+D/2} cos tθ_j + x_j sin tθ_j)",
    .shapes = "q [B, T, A, D], k [B, T, K, D] in place, j < D/2; fp32, bf16 or fp16; table and arithmetic in fp32",
    .source = "Su et al. 2021, RoFormer, arXiv:2104.09864, equation 34",
    .bytes = &bytes,
    .flops = &flops,
};

}  // namespace headroom::kernels
