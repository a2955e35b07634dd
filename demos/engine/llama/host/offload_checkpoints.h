// Layer inputs in host memory between forward and backward.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/model/checkpoint.h"

namespace headroom::llama {

// At most two inputs are on the device: the current one, and one being copied out (forward) or in (backward).
class HostCheckpoints final : public CheckpointStore {
 public:
  HostCheckpoints(std::int64_t segments, at::IntArrayRef shape, at::ScalarType type, at::Device device,
                  HostArena& arena);
  ~HostCheckpoints() override;

  void keep(std::int64_t segment, const at::Tensor& x) override;
  at::Tensor take(std::int64_t segment) override;

 private:
  struct Slot {
    at::Tensor host;
    at::Tensor device;  // defined while the input is being copied
    CopyDone moved;
  };
  void fetch(std::int64_t segment);

  at::Device device_;
  CopyLane to_host_, to_device_;
  std::vector<Slot> slots_;
};

}  // namespace headroom::llama
