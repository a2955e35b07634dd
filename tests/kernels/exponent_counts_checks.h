// Numbers to count by exponent, and the counts by the plainest way.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/exponent_counts/exponent_counts_ops.h"

namespace headroom::test {

at::Tensor no_counts(at::Device device);
std::vector<std::int64_t> numbers(const at::Tensor& counts);

// On the CPU: all 65,536 numbers of a 16-bit type; of fp32 with each sign and exponent the first, the second, a middle
// and the last two.
at::Tensor every_kind(at::ScalarType type);

// Of x [n] on the CPU: products in float64, rounded once, their exponents by frexp.
std::vector<std::int64_t> exact_counts(const at::Tensor& x, float factor);

// Random weights and moments; every third weight stays as it was.
kernels::AdamWChange random_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment, at::Device device);

// The same on the CPU, of numbers from which exact_step() makes changes without rounding; some are 0.
kernels::AdamWChange exact_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment);
kernels::AdamWStep exact_step();  // ε = 0, all else powers of two

struct UpdateCounts {
  std::vector<std::int64_t> updates, lost;
};
// Of a change on the CPU and exact_step(), in float64.
UpdateCounts exact_update_counts(const kernels::AdamWChange& change, bool decays);
// By the kernel.
UpdateCounts update_counts(const kernels::AdamWChange& change, const kernels::AdamWStep& step,
                           const kernels::AdamWControl& control = {});

}  // namespace headroom::test
