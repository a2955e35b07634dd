// Launches kernels of a library that NVRTC compiled, and waits for what they do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace headroom::experiments {

// One kernel of the source, with its arguments.
struct KernelLaunch {
  std::string kernel;
  std::int64_t blocks = 0;
  std::vector<float*> pointers;
  std::optional<std::int64_t> count;  // the argument behind the pointers: this, else epsilon
};

// Queues it on the current stream. Empty, or why the device refused it.
std::string start_kernel(cudaLibrary_t library, KernelLaunch& launch, int threads, float epsilon);

// Until the device is done, or `cancelled` says so. Empty, or what ended the kernel: the device's context is then lost.
std::string wait_for_device(const std::function<bool()>& cancelled);

}  // namespace headroom::experiments
