// What the norms of rows must do on any device: shared by the tests on the CPU and on a GPU.
#pragma once

#include <string_view>

#include <ATen/ATen.h>

namespace headroom::test {

inline constexpr std::string_view kNorms[] = {"rms_norm", "add_rms_norm", "layer_norm"};

// NaN and ±∞ in x and ∞ in dy, in one row each, and a row of zeros: all come out as those of the reference.
void check_norm_extremes(std::string_view norm, at::Device device);
// dx over dy, the gradient around the norm and the rebuilt output give the bits of the plain way.
void check_norm_forms(at::Device device);
// No rows: no results, and gradients of the parameters that are zero.
void check_norm_empty(at::Device device);

}  // namespace headroom::test
