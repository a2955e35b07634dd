// Runs the CUDA kernels without LibTorch, on memory of exactly the right size: in seconds under compute-sanitizer, and
// with --time beside a copy of as many bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/common/storage.h"

namespace headroom::test {

// Device memory of exactly `bytes`, by cudaMalloc, so that an access beyond it is seen.
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
  // Values that look normal with standard deviation `scale`, the same for the same seed.
  void fill(kernels::Storage storage, std::uint64_t seed, float scale = 1.0f);
  void zero();
  // All bits set, NaN in every format: what is read before it was written shows in the results.
  void poison();

  // What is in it from byte `begin` on, on the host; and as numbers of that storage.
  std::vector<char> bits(std::int64_t begin = 0) const;
  std::vector<double> numbers(kernels::Storage storage, std::int64_t begin = 0) const;

 private:
  void* data_ = nullptr;
  std::int64_t bytes_;
};

class KernelDriver {
 public:
  KernelDriver(bool timed, std::string_view only) : timed_(timed), only_(only) {}

  // False: check small odd shapes once. True: time the large ones.
  bool timed() const { return timed_; }
  // Whether the command line asks for this kernel.
  bool wants(std::string_view kernel) const { return only_.empty() || kernel == only_; }

  // A launch outside of timing: fails the program on a CUDA error, now or when the device comes to it.
  void run(const std::string& name, const std::function<int()>& launch);
  // Median and [0.2, 0.8] quantiles with a cold L2 by CUDA events, bytes per second, and that as a part of a device copy
  // whose reads and writes add up to `bytes`, timed in turns with it.
  void time(const std::string& name, std::int64_t bytes, const std::function<int()>& launch);
  // The same for products: TFLOP/s.
  void time_flops(const std::string& name, double flops, const std::function<int()>& launch);

  // The last argument is the most that a number may be off, as a part of the largest expected one (at least 0.01). How
  // exact kernels are is for tests/kernels to say: here only the CPU's kernel is expected, or that all was written.
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

// What drives one kernel of the list in kernels/CMakeLists.txt: k<Name>Driven, in kernel_driver_<family>.cu. The list of
// them is made from that one, so that the driver does not link without one.
struct DrivenKernel {
  std::string_view id;
  void (*drive)(KernelDriver& driver);
};
std::span<const DrivenKernel* const> driven_kernels();

}  // namespace headroom::test
