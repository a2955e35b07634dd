// Memory of the host for what a run keeps off its device: blocks of exactly the size that is needed, outside the
// allocator that counts the device's bytes.
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

// The host has no more memory; what() is a sentence for a reader.
class HostMemoryFull : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class HostPages : std::uint8_t {
  kPageable,
  kLocked,  // the device copies from and to them by itself, at full speed and beside its work
};

class HostArena {
 public:
  // Page-locks memory and registers it with the device; false: refused. `unlock` undoes it.
  struct PageLock {
    std::function<bool(void* block, std::size_t bytes)> lock;
    void (*unlock)(void* block) = nullptr;
  };

  // `device`: of the run. On CUDA locked pages are really locked; the CPU as a device copies from any memory; on meta
  // there is no memory at all, but blocks are reported all the same. `most`: bytes that the host can give; 0: unknown.
  explicit HostArena(at::Device device, record::Bytes most = 0);
  HostArena(at::Device device, record::Bytes most, PageLock lock);

  // Bytes of the same memory that are taken elsewhere, asked before each block: by the device, if that is the CPU.
  void shares_with(std::function<record::Bytes()> other) { other_ = std::move(other); }

  // Contiguous, on the CPU (on meta for a run on meta), not initialized. Reported to the listener (record::host_allocated)
  // under the calling thread's tag. Frees itself, and may outlive the arena. Throws HostMemoryFull.
  at::Tensor empty(at::IntArrayRef sizes, at::ScalarType type, HostPages pages);

  // Bytes that are taken now.
  record::Bytes bytes() const { return *taken_; }
  // Why pages that should be locked are not; empty while all are. One sentence.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Block;
  static void free_block(void* block);
  void map(Block& block, HostPages pages);

  at::Device device_;
  record::Bytes most_;
  std::function<record::Bytes()> other_;  // may be empty
  PageLock lock_;
  std::shared_ptr<std::atomic<record::Bytes>> taken_ = std::make_shared<std::atomic<record::Bytes>>(0);
  std::string trouble_;
};

}  // namespace headroom::llama
