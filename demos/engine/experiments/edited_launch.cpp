// Launches a library's kernels by name.
#include "demos/engine/experiments/edited_launch.h"

#include <chrono>
#include <thread>

#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

namespace headroom::experiments {

std::string start_kernel(cudaLibrary_t library, KernelLaunch& launch, int threads, float epsilon) {
  cudaKernel_t kernel = nullptr;
  cudaError_t error = cudaLibraryGetKernel(&kernel, library, launch.kernel.c_str());
  std::vector<void*> arguments;
  for (float*& pointer : launch.pointers) arguments.push_back(&pointer);
  if (launch.count)
    arguments.push_back(&*launch.count);
  else
    arguments.push_back(&epsilon);
  if (error == cudaSuccess) {
    error =
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(launch.blocks)),
                         dim3(static_cast<unsigned>(threads)), arguments.data(), 0, c10::cuda::getCurrentCUDAStream());
  }
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();
  return fmt::format("The GPU cannot launch `{}`: {}.", launch.kernel, cudaGetErrorString(error));
}

std::string wait_for_device(const std::function<bool()>& cancelled) {
  using namespace std::chrono_literals;
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  cudaError_t state = cudaStreamQuery(stream);
  for (; state == cudaErrorNotReady && !cancelled(); state = cudaStreamQuery(stream))
    std::this_thread::sleep_for(200us);
  if (state == cudaSuccess || state == cudaErrorNotReady) return {};
  return fmt::format("The GPU aborted it: {}.", cudaGetErrorString(state));
}

}  // namespace headroom::experiments
