// Runs the CUDA kernels without LibTorch, in buffers of the exact size: within seconds under compute-sanitizer, or
// with --time in turns with a copy.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/common/storage.h"

namespace headroom::tests {

// Exactly `bytes` from cudaMalloc, so that out-of-bounds accesses are detected.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::int64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::int64_t bytes() const { return bytes_; }
  // Approximately normal values of standard deviation `scale`; equal seeds give equal values.
  void fill(kernels::Storage storage, std::uint64_t seed, float scale = 1.0f);
  void zero();
  // NaN in every format, to reveal reads of unwritten memory.
  void poison();

  // Copies to the host from byte `begin` on, raw or as numbers.
  std::vector<char> bits(std::int64_t begin = 0) const;
  std::vector<double> numbers(kernels::Storage storage, std::int64_t begin = 0) const;

 private:
  void* data_ = nullptr;
  std::int64_t bytes_;
};

class KernelDriver {
 public:
  KernelDriver(bool timed, std::string_view only) : timed_(timed), only_(only) {}

  // False: check small odd shapes once. True: time large shapes.
  bool timed() const { return timed_; }
  bool wants(std::string_view kernel) const { return only_.empty() || kernel == only_; }

  // Launches once, untimed, and reports CUDA errors.
  void run(const std::string& name, const std::function<int()>& launch);
  // Prints median and [0.2, 0.8] quantiles with a cold L2, bytes per second, and their share of a device copy that
  // moves `bytes`, in turns with it.
  void time(const std::string& name, std::int64_t bytes, const std::function<int()>& launch);
  // The same for GEMMs, in TFLOP/s.
  void time_flops(const std::string& name, double flops, const std::function<int()>& launch);

  // `most`: largest error relative to the largest expected value (at least 0.01). tests/kernels checks accuracy; here
  // agreement with the CPU's kernel, or completeness, is enough.
  void expect_near(const std::string& name, const std::vector<double>& values, const std::vector<double>& expected,
                   double most);
  void expect_finite(const std::string& name, const std::vector<double>& values);

  int failures() const { return failures_; }
  void fail(const std::string& name, const std::string& why);

 private:
  bool timed_;
  std::string only_;
  int failures_ = 0;
};

// One kernel of the list in kernels/CMakeLists.txt: k<Name>Driven in kernel_driver_<family>.cu. The catalogue is
// generated from that list, so a missing one fails to link.
struct DrivenKernel {
  std::string_view id;
  void (*drive)(KernelDriver& driver);
};
std::span<const DrivenKernel* const> driven_kernels();

}  // namespace headroom::tests
