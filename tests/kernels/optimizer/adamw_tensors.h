// Inputs for AdamW and 8-bit AdamW.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"

namespace headroom::tests {

inline constexpr double kLearningRate = 1e-2, kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8, kWeightDecay = 0.1;

struct AdamWTypes {
  at::ScalarType param, gradient, moment;
};

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

// Tensors start at element `offset`.
kernels::AdamWParameter adamw_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types, at::Device device);

// Like adamw_tensors(), with an fp32 master and a working copy of types.param.
kernels::AdamWParameter adamw_copy_tensors(std::int64_t n, std::int64_t offset, const AdamWTypes& types,
                                           at::Device device);

kernels::AdamWStep adamw_constants(std::int64_t t);

kernels::AdamWParameter on_device(const kernels::AdamWParameter& tensors, at::Device device);

bool same_bits(const kernels::AdamWParameter& a, const kernels::AdamWParameter& b);

// inverse_scale is 2^-k.
kernels::AdamWControl adamw_control(int k, bool overflow, std::int64_t t, at::Device device);

struct Weight8bitTypes {
  at::ScalarType param, gradient;
  bool copy = false;  // fp32 master; param is the copy's type
};

inline constexpr Weight8bitTypes kWeight8bitTypes[] = {
    {at::kFloat, at::kFloat},          {at::kBFloat16, at::kBFloat16},
    {at::kBFloat16, at::kFloat},       {at::kHalf, at::kHalf},
    {at::kHalf, at::kFloat},           {at::kBFloat16, at::kBFloat16, true},
    {at::kBFloat16, at::kFloat, true}, {at::kHalf, at::kHalf, true},
    {at::kHalf, at::kFloat, true}};

kernels::AdamW8bitParameter weight_8bit(std::int64_t n, std::int64_t offset, const Weight8bitTypes& types,
                                        at::Device device);

bool same_bits(const kernels::AdamW8bitParameter& a, const kernels::AdamW8bitParameter& b);

void step_8bit(const kernels::AdamW8bitParameter& p, std::int64_t t, const kernels::AdamWControl& control = {});

kernels::AdamWReference reference_8bit(const kernels::AdamW8bitParameter& before, std::int64_t t);

}  // namespace headroom::tests
