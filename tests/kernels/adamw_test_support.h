// Inputs for AdamW, and its error next to PyTorch's in the same types.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"

namespace headroom::tests {

struct AdamWTypes {
  at::ScalarType param, gradient, moment;
};

// All supported combinations.
inline constexpr AdamWTypes kAdamWTypes[] = {{at::kFloat, at::kFloat, at::kFloat},
                                             {at::kFloat, at::kFloat, at::kBFloat16},
                                             {at::kBFloat16, at::kBFloat16, at::kBFloat16},
                                             {at::kBFloat16, at::kFloat, at::kBFloat16},
                                             {at::kBFloat16, at::kBFloat16, at::kFloat},
                                             {at::kBFloat16, at::kFloat, at::kFloat},
                                             {at::kHalf, at::kHalf, at::kFloat},
                                             {at::kHalf, at::kFloat, at::kFloat},
                                             {at::kHalf, at::kHalf, at::kBFloat16},
                                             {at::kHalf, at::kFloat, at::kBFloat16}};

// fp32 masters with a working copy of `param`.
inline constexpr AdamWTypes kAdamWCopyTypes[] = {{at::kBFloat16, at::kBFloat16, at::kFloat},
                                                 {at::kBFloat16, at::kFloat, at::kBFloat16},
                                                 {at::kHalf, at::kHalf, at::kFloat},
                                                 {at::kHalf, at::kFloat, at::kBFloat16}};

struct AdamWErrors {
  double kernel_param, kernel_first, kernel_second;  // largest difference to float64, relative to the largest value
  double torch_param, torch_first, torch_second;     // likewise for PyTorch's operators
};

// Error allowed regardless of PyTorch's: with bf16 moments a step of η is up to 2^−8 off, and chance decides a single
// element.
inline double adamw_floor(const AdamWTypes& types) { return types.moment == at::kBFloat16 ? 1e-2 * 0x1p-8 : 1e-6; }

// Random values; tensors start at element `offset`.
kernels::AdamWParameter adamw_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device);

// Three steps.
AdamWErrors adamw_errors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device);

// True if many tensors, more than a launch takes, get the same bits together as alone.
bool adamw_together_as_alone(at::Device device);

// With an fp32 master and a working copy of types.param.
kernels::AdamWParameter adamw_copy_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types,
                                           at::Device device);

kernels::AdamWStep adamw_constants(std::int64_t t);

kernels::AdamWParameter on_device(const kernels::AdamWParameter& tensors, at::Device device);

// Compares all that the step writes.
bool same_bits(const kernels::AdamWParameter& a, const kernels::AdamWParameter& b);

// inverse_scale is 2^-k.
kernels::AdamWControl adamw_control(int k, bool overflow, std::int64_t t, at::Device device);

}  // namespace headroom::tests
