// Test bodies for the search for inf and NaN and for the loss scale.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::tests {

// Tensors of many sizes (none, one, several blocks, more than a launch takes), some misaligned, with the largest and
// smallest finite numbers.
std::vector<at::Tensor> finite_gradients(at::Device device);

// Runs check_finite_ with the flag initially `before`.
bool overflow_found(const std::vector<at::Tensor>& gradients, bool before = false);

// Puts inf, −inf and NaN first, last and in the middle of every tensor. True if each is found, and nothing after its
// removal.
bool finds_each(const std::vector<at::Tensor>& gradients);

struct LossScaleState {
  at::Tensor scale, inverse_scale, good_steps, overflow, skipped;
};
LossScaleState loss_scale_state(double scale, at::Device device);

// The scales after steps that overflow (1) or not (0).
std::vector<float> scales_after(const LossScaleState& state, const std::vector<int>& overflows,
                                std::int64_t growth_interval);

}  // namespace headroom::tests
