// Copies layer inputs to the host in forward, and back to the device in backward, one input ahead.
#include "demos/engine/llama/host/offload_checkpoints.h"

#include <utility>

#include "demos/engine/llama/model/labels.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Phase;
using record::Scope;

}  // namespace

HostCheckpoints::HostCheckpoints(std::int64_t segments, at::IntArrayRef shape, at::ScalarType type, at::Device device,
                                 HostArena& arena)
    : device_(device), to_host_(device), to_device_(device) {
  for (std::int64_t i = 0; i < segments; ++i) {
    const Scope scope(record::Tag{.category = Category::kActivations, .op = number_of(Op::kLayerInput)});
    slots_.push_back({.host = arena.empty(shape, type, HostPages::kLocked), .device = {}, .moved = {}});
  }
}

HostCheckpoints::~HostCheckpoints() {
  to_host_.finish();
  to_device_.finish();
}

void HostCheckpoints::keep(std::int64_t segment, const at::Tensor& x) {
  if (segment > 0) {
    Slot& left = slots_[static_cast<std::size_t>(segment - 1)];
    left.moved.device_waits();  // later users of this input's memory wait for the copy
    left.device = at::Tensor();
  }
  Slot& slot = slots_[static_cast<std::size_t>(segment)];
  slot.device = x;
  if (segment + 1 == static_cast<std::int64_t>(slots_.size())) return;  // not copied: backward reads this input first
  to_host_.wait_for_device();
  to_host_.copy(slot.host, x);
  slot.moved = to_host_.done();
}

at::Tensor HostCheckpoints::take(std::int64_t segment) {
  fetch(segment);
  Slot& slot = slots_[static_cast<std::size_t>(segment)];
  slot.moved.device_waits();
  if (segment > 0) fetch(segment - 1);
  return std::exchange(slot.device, at::Tensor());
}

void HostCheckpoints::fetch(std::int64_t segment) {
  Slot& slot = slots_[static_cast<std::size_t>(segment)];
  if (slot.device.defined()) return;
  const at::AutoGradMode grad_mode(false);
  {
    const Scope scope(
        record::Tag{.phase = Phase::kCopies, .category = Category::kActivations, .op = number_of(Op::kLayerInput)});
    slot.device = at::empty(slot.host.sizes(), slot.host.options().device(device_));
  }
  to_device_.wait_for_device();
  to_device_.copy(slot.device, slot.host);
  slot.moved = to_device_.done();
}

}  // namespace headroom::llama
