// Host memory for offloaded data: blocks of the exact size, outside the allocator that counts the device's bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <ATen/ATen.h>

#include "demos/record/units.h"

namespace headroom::llama {

// what() is a sentence for the reader.
class HostMemoryFull : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class HostPages : std::uint8_t {
  kPageable,
  kLocked,   // page-locked: the device copies them asynchronously, at full speed
  kManaged,  // the driver moves them to the processor that reads them, and off a full device
};

class HostArena {
 public:
  // `lock` page-locks memory and registers it with the device; returns false if refused.
  struct PageLock {
    std::function<bool(void* block, std::size_t bytes)> lock;
    void (*unlock)(void* block) = nullptr;
  };

  // Locks pages only for CUDA. On meta it allocates nothing, but still reports blocks. `most`: available bytes; 0 if
  // unknown.
  explicit HostArena(at::Device device, record::Bytes most = 0);
  HostArena(at::Device device, record::Bytes most, PageLock lock);

  // `other` returns the bytes of the same memory that the device, if it is the CPU, has taken; called before each
  // block.
  void shares_with(std::function<record::Bytes()> other) { other_ = std::move(other); }

  // A contiguous, uninitialized tensor on the CPU (on meta in a plan; on the device if managed), reported to the
  // listener (record::host_allocated) under the calling thread's tag. May outlive the arena. Throws HostMemoryFull.
  at::Tensor empty(at::IntArrayRef sizes, at::ScalarType type, HostPages pages);

  record::Bytes bytes() const { return *taken_; }
  // Why pages are not locked, in one sentence; empty if all are.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Block;
  static void free_block(void* block);
  void map(Block& block, HostPages pages);

  at::Device device_;
  record::Bytes most_;
  std::function<record::Bytes()> other_;
  PageLock lock_;
  std::shared_ptr<std::atomic<record::Bytes>> taken_ = std::make_shared<std::atomic<record::Bytes>>(0);
  std::string trouble_;
};

}  // namespace headroom::llama
