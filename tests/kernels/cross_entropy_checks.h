// Test bodies for cross entropy on any device.
#pragma once

#include <ATen/ATen.h>

namespace headroom::tests {

// Loss and gradient next to float64 and PyTorch: odd widths, unaligned rows, reductions, smoothing, upstream
// gradients.
void check_cross_entropy_errors(at::Device device);
// All rows ignored, one valid row, no rows, one class.
void check_cross_entropy_edges(at::Device device);
// Logits of ±80, −∞ masks, NaN and +∞ follow the definition.
void check_cross_entropy_extremes(at::Device device);
// In place, repeated, with a given count, and with several backward passes.
void check_cross_entropy_repeats(at::Device device);

// Every `skip`-th target is ignored, none for 0.
at::Tensor make_targets(std::int64_t rows, std::int64_t vocab, std::int64_t skip, at::Device device);

}  // namespace headroom::tests
