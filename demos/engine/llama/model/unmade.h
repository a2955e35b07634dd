// Results that are not made: a layer that runs again for its backward ends in nodes of the graph whose values are not read.
#pragma once

#include <ATen/ATen.h>

namespace headroom::llama {

// A tensor of this shape, of x's type and on its device, without memory: to read it throws.
at::Tensor unmade(at::IntArrayRef shape, const at::Tensor& x);

// a + b for the graph alone: unmade, and in backward its gradient is that of both.
at::Tensor unmade_sum(const at::Tensor& a, const at::Tensor& b);

}  // namespace headroom::llama
