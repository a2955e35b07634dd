// A step's call of autograd's engine.
#pragma once

#include <ATen/ATen.h>

namespace headroom::llama {

// Runs backward from y on the calling thread, on CUDA too: all allocations come in one order, and cuBLAS keeps one
// workspace instead of two. Adds gradients to `.grad`, and ends all backward labels. After an exception the engine
// holds nothing of the graph. `upstream`: gradient of y; undefined for a scalar y: 1.
void run_backward(const at::Tensor& y, const at::Tensor& upstream);

}  // namespace headroom::llama
