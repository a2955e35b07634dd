// Activation checkpointing: keeps the inputs of some layers, and recomputes the layers in backward.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "demos/record/units.h"

namespace headroom::llama {

// Holds inputs between forward and backward, possibly off the device.
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  // In forward, in segment order. x is not read again before take().
  virtual void keep(std::int64_t segment, const at::Tensor& x) = 0;
  // In backward, in reverse order: x, on the device.
  virtual at::Tensor take(std::int64_t segment) = 0;
};

// Consecutive layers of which only the input is kept. `layers` must be pure; what it refers to must outlive backward.
// kRecompute needs only the graph, so values may be unmade (unmade.h); PyTorch's checkpoint, too, stops at the last
// tensor that backward needs.
struct CheckpointedSegment {
  std::function<at::Tensor(const at::Tensor& x, record::Phase phase)> layers;  // phase: kForward, then kRecompute
  std::function<void()> before_backward;
  CheckpointStore* store = nullptr;  // null: autograd keeps x; not owned
  std::int64_t number = 0;
};

// layers(x), keeping only x. Backward recomputes the layers with a graph, calls `before_backward` and runs their
// backward nested, accumulating the weights' gradients. Chen et al. 2016, arXiv:1604.06174.
at::Tensor checkpoint(const at::Tensor& x, CheckpointedSegment segment);

}  // namespace headroom::llama
