// What cross entropy must do on whatever device.
#pragma once

#include <ATen/ATen.h>

namespace headroom::test {

// Loss and gradient beside float64 and beside PyTorch's own in the same type: odd widths, unaligned rows, all reductions,
// smoothing, a random upstream gradient.
void check_cross_entropy_errors(at::Device device);
// All rows ignored, one row valid, no rows, one class.
void check_cross_entropy_edges(at::Device device);
// Logits of ±80, −∞ masks, NaN, +∞: what the definition gives.
void check_cross_entropy_extremes(at::Device device);
// In place or beside, twice, with the count given or not, and with one backward pass after another.
void check_cross_entropy_repeats(at::Device device);

// Targets for `rows` rows of which every `skip`-th is ignored; 0: none.
at::Tensor make_targets(std::int64_t rows, std::int64_t vocab, std::int64_t skip, at::Device device);

}  // namespace headroom::test
