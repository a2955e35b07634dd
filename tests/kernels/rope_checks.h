// What RoPE must do on whatever device; each function is the body of a test case.
#pragma once

#include <ATen/ATen.h>

namespace headroom::test {

struct RopeTables {
  at::Tensor cos, sin;  // [T, D/2]
};
// Angles t · 10000^(−2j/D).
RopeTables rope_tables(std::int64_t length, std::int64_t head_dim, at::Device device);

void check_rope_inverse(at::Device device);   // there and back, also of no tokens
void check_rope_packed(at::Device device);    // views of one product of queries, keys and values
void check_rope_autograd(at::Device device);  // gradients with a single reference, and shared ones

}  // namespace headroom::test
