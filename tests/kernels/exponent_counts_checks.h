// Numbers to count by exponent, and reference counts.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/exponent_counts/exponent_counts_ops.h"

namespace headroom::tests {

at::Tensor no_counts(at::Device device);
std::vector<std::int64_t> numbers(const at::Tensor& counts);

// On the CPU. All 65,536 16-bit numbers; for fp32, per sign and exponent, the first two, a middle one, the last two.
at::Tensor every_kind(at::ScalarType type);

// x [n] on the CPU; products in float64, rounded once, with exponents from frexp.
std::vector<std::int64_t> exact_counts(const at::Tensor& x, float factor);

// Random weights and moments; every third weight is unchanged.
kernels::AdamWChange random_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment, at::Device device);

// On the CPU; exact_step() changes them without rounding. Some are 0.
kernels::AdamWChange exact_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment);
kernels::AdamWStep exact_step();  // ε = 0, all else powers of two

struct UpdateCounts {
  std::vector<std::int64_t> updates, lost;
};
// In float64 on the CPU, with exact_step().
UpdateCounts exact_update_counts(const kernels::AdamWChange& change, bool decays);
UpdateCounts update_counts(const kernels::AdamWChange& change, const kernels::AdamWStep& step,
                           const kernels::AdamWControl& control = {});

}  // namespace headroom::tests
