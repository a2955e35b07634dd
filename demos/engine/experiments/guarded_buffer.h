// Memory for an untrusted kernel, between canaries that reveal out-of-bounds writes.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

namespace headroom::experiments {

// A buffer of fp32 numbers on the GPU.
class GuardedBuffer {
 public:
  // `index` gives each buffer different canaries.
  GuardedBuffer(std::string name, std::int64_t count, int index);

  const std::string& name() const { return name_; }
  at::Tensor data() const;
  std::int64_t never_written() const;

  // Describes out-of-bounds writes in a sentence; empty: none. Waits for the device.
  std::string damage() const;

 private:
  std::string name_;
  std::int64_t count_;
  std::int32_t canary_;
  at::Tensor whole_;
};

}  // namespace headroom::experiments
