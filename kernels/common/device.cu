// Properties of the current device, and the oldest architecture of the build.
#include "kernels/common/device.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "kernels/common/storage.cuh"

namespace headroom::kernels {

namespace {

// An attribute, queried once per device.
class DeviceNumber {
 public:
  explicit DeviceNumber(cudaDeviceAttr attribute) : attribute_(attribute) {}
  int of_current_device() {
    int device = 0;
    cudaGetDevice(&device);
    std::atomic<int>& number = known_[static_cast<std::size_t>(device % kMostDevices)];
    if (number == 0) {
      int asked = 0;
      cudaDeviceGetAttribute(&asked, attribute_, device);
      number = asked;
    }
    return number;
  }

 private:
  static constexpr int kMostDevices = 64;
  cudaDeviceAttr attribute_;
  std::array<std::atomic<int>, kMostDevices> known_{};
};

}  // namespace

int multiprocessors() {
  static DeviceNumber count(cudaDevAttrMultiProcessorCount);
  return count.of_current_device();
}

int processor_shared_bytes() {
  static DeviceNumber bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  return bytes.of_current_device();
}

int oldest_capability() {
  return std::min({__CUDA_ARCH_LIST__}) / 10;  // 800, 860, …
}

}  // namespace headroom::kernels
