// A pass of autograd's engine as a step makes it.
#pragma once

#include <ATen/ATen.h>

namespace headroom::llama {

// Backward from y: gradients are added to `.grad`. It runs on the calling thread, on CUDA too: one thread makes every
// allocation, in one order, and cuBLAS keeps one workspace instead of two. However it ends, no label of backward outlives
// it, and an exception leaves nothing of the graph in the engine. `upstream`: of y; undefined where y is a number: 1.
void run_backward(const at::Tensor& y, const at::Tensor& upstream);

}  // namespace headroom::llama
