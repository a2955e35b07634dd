// Activation checkpointing: keep the input of a few layers only, and compute them again in backward.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "demos/record/units.h"

namespace headroom::llama {

// Holds kept inputs between forward and backward; an implementation may move them off the device.
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  // In forward, in the order of the segments. This x is not read again before take() of the same segment.
  virtual void keep(std::int64_t segment, const at::Tensor& x) = 0;
  // In backward, in the opposite order: x again, on the device.
  virtual at::Tensor take(std::int64_t segment) = 0;
};

// A run of layers of which only the input is kept. `layers` must be pure, and what it refers to must outlive backward. Of
// what it gives with kRecompute only the graph is read, as in PyTorch's checkpoint, which stops there once the last tensor
// that backward needs is back: the values may be unmade (unmade.h).
struct CheckpointedSegment {
  std::function<at::Tensor(const at::Tensor& x, record::Phase phase)> layers;  // phase: kForward, then kRecompute
  std::function<void()> before_backward;
  CheckpointStore* store = nullptr;  // null: autograd keeps x. Not owned.
  std::int64_t number = 0;           // the segment's, for the store
};

// layers(x), keeping nothing but x. In backward the layers run again with a graph, `before_backward` is called, and
// their backward runs nested; the weights' gradients accumulate there. Chen et al. 2016, arXiv:1604.06174.
at::Tensor checkpoint(const at::Tensor& x, CheckpointedSegment segment);

}  // namespace headroom::llama
