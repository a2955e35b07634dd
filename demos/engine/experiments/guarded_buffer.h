// Memory for an untrusted kernel: canaries before and behind it show what was written outside it.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

namespace headroom::experiments {

// fp32 numbers on the GPU between canaries.
class GuardedBuffer {
 public:
  // `index` makes the canaries of each buffer of a run different.
  GuardedBuffer(std::string name, std::int64_t count, int index);

  const std::string& name() const { return name_; }
  at::Tensor data() const;
  std::int64_t never_written() const;  // numbers that still are what the constructor left

  // What was written beside it, as a sentence; empty: nothing. Waits for the device.
  std::string damage() const;

 private:
  std::string name_;
  std::int64_t count_;
  std::int32_t canary_;
  at::Tensor whole_;
};

}  // namespace headroom::experiments
