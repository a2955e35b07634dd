// Inputs for AdamW with 8-bit moments, and its distance from float64.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/adamw_8bit/adamw_8bit_ops.h"

namespace headroom::test {

struct Weight8bitTypes {
  at::ScalarType param, gradient;
  bool copy = false;  // param is the working copy's type, beside an fp32 master
};

// All that the kernel takes.
inline constexpr Weight8bitTypes kWeight8bitTypes[] = {
    {at::kFloat, at::kFloat},          {at::kBFloat16, at::kBFloat16},
    {at::kBFloat16, at::kFloat},       {at::kHalf, at::kHalf},
    {at::kHalf, at::kFloat},           {at::kBFloat16, at::kBFloat16, true},
    {at::kBFloat16, at::kFloat, true}, {at::kHalf, at::kHalf, true},
    {at::kHalf, at::kFloat, true}};

// Random values; the moments come from numbers of many magnitudes. All tensors start `offset` elements into their
// storages.
kernels::AdamW8bitParameter weight_8bit(std::int64_t n, std::int64_t offset, const Weight8bitTypes& types,
                                        at::Device device);
kernels::AdamW8bitParameter copied(const kernels::AdamW8bitParameter& p, at::Device device);
bool same_bits(const kernels::AdamW8bitParameter& a, const kernels::AdamW8bitParameter& b);

void step_8bit(const kernels::AdamW8bitParameter& p, std::int64_t t, const kernels::AdamWControl& control = {});
kernels::AdamWReference reference_8bit(const kernels::AdamW8bitParameter& before, std::int64_t t);

// How much farther `values`, coded and decoded, are from `exact` than the nearest value of the map, at most, relative
// to the block's absmax and beyond a millionth of the value itself (fp32's rounding); both [n], anywhere.
double beyond_nearest(const at::Tensor& values, const at::Tensor& exact, bool is_signed);

}  // namespace headroom::test
