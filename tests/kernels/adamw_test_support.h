// Inputs for the AdamW kernel, and its error beside that of the same step in plain PyTorch of the same types.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"

namespace headroom::test {

struct AdamWTypes {
  at::ScalarType param, gradient, moment;
};

// All that the kernel takes.
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
  double torch_param, torch_first, torch_second;     // the same for PyTorch's own operators in the storage types
};

// What the parameter's error may be whatever PyTorch's is: with bf16 moments a step of η ends up to 2^−8 off, and in a
// tensor of one element chance decides which of the two implementations comes nearer.
inline double adamw_floor(const AdamWTypes& types) { return types.moment == at::kBFloat16 ? 1e-2 * 0x1p-8 : 1e-6; }

// Random values, the tensors starting `offset` elements into their storages.
kernels::AdamWParameter adamw_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device);

// Three steps over n elements.
AdamWErrors adamw_errors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device);

// Whether many tensors of many sizes and types, more than one launch takes, end with the same bits as each by itself.
bool adamw_together_as_alone(at::Device device);

// The same with an fp32 master and a working copy of types.param.
kernels::AdamWParameter adamw_copy_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types,
                                           at::Device device);

// A step's constants as all these tests use them.
kernels::AdamWStep adamw_constants(std::int64_t t);

// The tensors on another device, as they are.
kernels::AdamWParameter on_device(const kernels::AdamWParameter& tensors, at::Device device);

// Whether all that the step writes has the same bits, at any address.
bool same_bits(const kernels::AdamWParameter& a, const kernels::AdamWParameter& b);

// inverse_scale 2^-k, overflow `overflow`, step_count t, on `device`.
kernels::AdamWControl adamw_control(int k, bool overflow, std::int64_t t, at::Device device);

}  // namespace headroom::test
