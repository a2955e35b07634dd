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
  kLocked,   // the device copies them asynchronously, at full speed
  kManaged,  // the driver moves them to whoever reads them, and off a device that is full
};

class HostArena {
 public:
  // Page-locks memory and registers it with the device; false: refused.
  struct PageLock {
    std::function<bool(void* block, std::size_t bytes)> lock;
    void (*unlock)(void* block) = nullptr;
  };

  // Pages are locked only for CUDA. On meta nothing is allocated, but blocks are reported. `most`: available bytes; 0:
  // unknown.
  explicit HostArena(at::Device device, record::Bytes most = 0);
  HostArena(at::Device device, record::Bytes most, PageLock lock);

  // Bytes that the device has taken of the same memory, if it is the CPU; called before each block.
  void shares_with(std::function<record::Bytes()> other) { other_ = std::move(other); }

  // Contiguous, uninitialized, on the CPU (on meta in a plan; managed ones on the device). Reported to the listener (record::host_allocated) under
  // the calling thread's tag. May outlive the arena. Throws HostMemoryFull.
  at::Tensor empty(at::IntArrayRef sizes, at::ScalarType type, HostPages pages);

  record::Bytes bytes() const { return *taken_; }
  // Why pages are not locked, in one sentence; empty: all are.
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
