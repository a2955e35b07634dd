// Launches kernels that NVRTC compiled, and waits for them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace headroom::experiments {

struct KernelLaunch {
  std::string kernel;
  std::int64_t blocks = 0;
  std::vector<float*> pointers;
  std::optional<std::int64_t> count;  // argument after the pointers; if unset, epsilon is passed
};

// Queues the launch on the current stream. Returns the device's error; empty: none.
std::string start_kernel(cudaLibrary_t library, KernelLaunch& launch, int threads, float epsilon);

// Waits until the device is done or `cancelled` is true. Returns the error that ended the kernel and lost the device's
// context; empty: none.
std::string wait_for_device(const std::function<bool()>& cancelled);

}  // namespace headroom::experiments
