// Inputs for 8-bit AdamW, and its distance from float64.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/adamw_8bit/adamw_8bit_ops.h"

namespace headroom::tests {

struct Weight8bitTypes {
  at::ScalarType param, gradient;
  bool copy = false;  // fp32 master; param is the copy's type
};

// All supported combinations.
inline constexpr Weight8bitTypes kWeight8bitTypes[] = {
    {at::kFloat, at::kFloat},          {at::kBFloat16, at::kBFloat16},
    {at::kBFloat16, at::kFloat},       {at::kHalf, at::kHalf},
    {at::kHalf, at::kFloat},           {at::kBFloat16, at::kBFloat16, true},
    {at::kBFloat16, at::kFloat, true}, {at::kHalf, at::kHalf, true},
    {at::kHalf, at::kFloat, true}};

// Random values, with moments of many magnitudes; tensors start at element `offset`.
kernels::AdamW8bitParameter weight_8bit(std::int64_t n, std::int64_t offset, const Weight8bitTypes& types,
                                        at::Device device);
kernels::AdamW8bitParameter copied(const kernels::AdamW8bitParameter& p, at::Device device);
bool same_bits(const kernels::AdamW8bitParameter& a, const kernels::AdamW8bitParameter& b);

void step_8bit(const kernels::AdamW8bitParameter& p, std::int64_t t, const kernels::AdamWControl& control = {});
kernels::AdamWReference reference_8bit(const kernels::AdamW8bitParameter& before, std::int64_t t);

// Largest error of decoded `values` beyond the map's nearest value, relative to the block's absmax, less a millionth
// of the value for fp32. Both [n].
double beyond_nearest(const at::Tensor& values, const at::Tensor& exact, bool is_signed);

}  // namespace headroom::tests
