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
  // Called in forward, in segment order. x is not read again before take().
  virtual void keep(std::int64_t segment, const at::Tensor& x) = 0;
  // Called in backward, in reverse order. Returns x on the device.
  virtual at::Tensor take(std::int64_t segment) = 0;
};

// Consecutive layers for which only the input is kept. `layers` must be pure; objects that it refers to must outlive
// backward. In phase kRecompute only the graph is needed, so values may be unmade (unmade.h).
struct CheckpointedSegment {
  std::function<at::Tensor(const at::Tensor& x, record::Phase phase)> layers;  // phase: kForward, then kRecompute
  std::function<void()> before_backward;
  CheckpointStore* store = nullptr;  // null: autograd keeps x; not owned
  std::int64_t number = 0;
};

// Returns layers(x), but keeps only x. Backward recomputes the layers with a graph, calls `before_backward` and runs a
// nested backward pass, which accumulates the weights' gradients. Chen et al. 2016, arXiv:1604.06174.
at::Tensor checkpoint(const at::Tensor& x, CheckpointedSegment segment);

}  // namespace headroom::llama
