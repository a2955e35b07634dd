// Test bodies for RoPE on any device.
#pragma once

#include <ATen/ATen.h>

namespace headroom::tests {

struct RopeTables {
  at::Tensor cos, sin;  // [T, D/2]
};
// Angles t · 10000^(−2j/D).
RopeTables rope_tables(std::int64_t length, std::int64_t head_dim, at::Device device);

void check_rope_inverse(at::Device device);   // forward and inverse, also without tokens
void check_rope_packed(at::Device device);    // views of one GEMM for queries, keys and values
void check_rope_autograd(at::Device device);  // gradients with one reference, and shared ones

}  // namespace headroom::tests
