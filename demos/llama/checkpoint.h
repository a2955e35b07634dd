// Activation checkpointing: keep a layer's input only, and compute the layer again in backward.
#pragma once

#include <functional>

#include <ATen/ATen.h>

namespace headroom::llama {

// layer(x), keeping nothing but x. In backward, `before_recompute` is called, the layer runs again with a graph,
// `before_backward` is called, and its backward runs nested; the weights' gradients accumulate there. `layer` must be
// pure and what it refers to must outlive backward. Chen et al. 2016, arXiv:1604.06174.
struct CheckpointedLayer {
  std::function<at::Tensor(const at::Tensor&)> layer;
  std::function<void()> before_recompute;
  std::function<void()> before_backward;
};
at::Tensor checkpoint(const at::Tensor& x, CheckpointedLayer layer);

}  // namespace headroom::llama
