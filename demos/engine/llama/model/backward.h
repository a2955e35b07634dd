// A step's call of autograd's engine.
#pragma once

#include <ATen/ATen.h>

namespace headroom::llama {

// Runs the backward pass from y on the calling thread, also on CUDA, so that all allocations come in one order and
// cuBLAS keeps one workspace instead of two. Adds gradients to `.grad`, and ends all backward labels. After an
// exception the engine holds no part of the graph. `upstream`: gradient of y; undefined: 1, for a scalar y.
void run_backward(const at::Tensor& y, const at::Tensor& upstream);

}  // namespace headroom::llama
