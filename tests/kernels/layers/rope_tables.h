// RoPE's tables, computed in float64.
#pragma once

#include <ATen/ATen.h>

namespace headroom::tests {

struct RopeTables {
  at::Tensor cos, sin;  // [T, D/2]
};

inline RopeTables rope_tables(std::int64_t length, std::int64_t head_dim, at::Device device) {
  const at::Tensor frequencies = at::pow(10000.0, -at::arange(0, head_dim, 2, at::kDouble) / head_dim);
  const at::Tensor angles = at::outer(at::arange(length, at::kDouble), frequencies);
  return {angles.cos().to(at::kFloat).to(device), angles.sin().to(at::kFloat).to(device)};
}

}  // namespace headroom::tests
