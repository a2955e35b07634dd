// Tensors without values, for results of a recomputed layer that are not read.
#pragma once

#include <ATen/ATen.h>

namespace headroom::llama {

// A tensor of this shape with x's type and device, but without memory; reading it throws.
at::Tensor unmade(at::IntArrayRef shape, const at::Tensor& x);

// An unmade a + b, for the graph alone; a and b get the sum's gradient.
at::Tensor unmade_sum(const at::Tensor& a, const at::Tensor& b);

}  // namespace headroom::llama
