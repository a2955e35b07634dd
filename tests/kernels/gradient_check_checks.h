// What the search for inf and NaN and the loss scale must do on any device.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::test {

// Tensors of many sizes, none, one element, several blocks, more than a launch takes, some off 16 bytes, all with the
// largest and smallest numbers of their type and nothing worse.
std::vector<at::Tensor> finite_gradients(at::Device device);

// What check_finite_ answers for them, from a flag of `before`.
bool overflow_found(const std::vector<at::Tensor>& gradients, bool before = false);

// Whether it finds each of inf, −inf and NaN alone at the first, the last and a middle place of every tensor, and
// nothing after it was taken away.
bool finds_each(const std::vector<at::Tensor>& gradients);

struct LossScaleState {
  at::Tensor scale, inverse_scale, good_steps, overflow, skipped;
};
LossScaleState loss_scale_state(double scale, at::Device device);

// The scales after each of the steps, which overflow (1) or not (0).
std::vector<float> scales_after(const LossScaleState& state, const std::vector<int>& overflows,
                                std::int64_t growth_interval);

}  // namespace headroom::test
