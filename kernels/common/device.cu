// Facts of the current device that launches need, and of the devices that the kernels are compiled for.
#include "kernels/common/device.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "kernels/common/storage.cuh"

namespace headroom::kernels {

int multiprocessors() {
  constexpr int kMostDevices = 64;
  static std::array<std::atomic<int>, kMostDevices> known{};
  int device = 0;
  cudaGetDevice(&device);
  std::atomic<int>& count = known[static_cast<std::size_t>(device % kMostDevices)];
  if (count == 0) {
    int asked = 0;
    cudaDeviceGetAttribute(&asked, cudaDevAttrMultiProcessorCount, device);
    count = asked;
  }
  return count;
}

int oldest_capability() {
  return std::min({__CUDA_ARCH_LIST__}) / 10;  // 800, 860, …
}

}  // namespace headroom::kernels
