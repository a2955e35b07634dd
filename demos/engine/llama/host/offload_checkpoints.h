// Kept inputs of layers in host memory between forward and backward.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/model/checkpoint.h"

namespace headroom::llama {

// At most two inputs are on the device: in forward one leaves while the next one is made; in backward one is read while
// the one before it comes.
class HostCheckpoints final : public CheckpointStore {
 public:
  // `segments` inputs of this shape and type in a pass.
  HostCheckpoints(std::int64_t segments, at::IntArrayRef shape, at::ScalarType type, at::Device device,
                  HostArena& arena);
  ~HostCheckpoints() override;

  void keep(std::int64_t segment, const at::Tensor& x) override;
  at::Tensor take(std::int64_t segment) override;

 private:
  struct Slot {
    at::Tensor host;
    at::Tensor device;  // on its way there or back
    CopyDone moved;
  };
  void fetch(std::int64_t segment);

  at::Device device_;
  CopyLane to_host_, to_device_;
  std::vector<Slot> slots_;
};

}  // namespace headroom::llama
