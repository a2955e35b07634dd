// Test bodies for the norms on any device.
#pragma once

#include <string_view>

#include <ATen/ATen.h>

namespace headroom::tests {

inline constexpr std::string_view kNorms[] = {"rms_norm", "add_rms_norm", "layer_norm"};

// NaN or ±∞ in x, ∞ in dy, and a row of zeros, as in the reference.
void check_norm_extremes(std::string_view norm, at::Device device);
// dx over dy, d_sum and the rebuilt output keep the plain form's bits.
void check_norm_forms(at::Device device);
// No rows: no results, and zero parameter gradients.
void check_norm_empty(at::Device device);

}  // namespace headroom::tests
