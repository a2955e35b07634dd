// Checks and launches of operators. Included only by *_ops.cpp.
#pragma once

#include <optional>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/common/storage.h"

namespace headroom::kernels {

inline std::optional<Storage> storage_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return Storage::kFp32;
    case at::kBFloat16:
      return Storage::kBf16;
    case at::kHalf:
      return Storage::kFp16;
    default:
      return std::nullopt;
  }
}

inline void check_number(const at::Tensor& tensor, at::ScalarType type, at::Device device, const char* op,
                         const char* what) {
  TORCH_CHECK(tensor.defined() && tensor.numel() == 1 && tensor.scalar_type() == type && tensor.device() == device, op,
              ": ", what, " must be one number of type ", type, " on the device of the others");
}

// The storage of `x`, which must be contiguous.
inline Storage checked_storage(const at::Tensor& x, const char* op, const char* what = "x") {
  const auto storage = x.defined() ? storage_of(x.scalar_type()) : std::nullopt;
  TORCH_CHECK(storage && x.is_contiguous(), op, ": ", what, " must be contiguous fp32, bf16 or fp16");
  return *storage;
}

template <typename T>
T* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<T>() : nullptr;
}

// Calls launch(stream) for the device's current stream. Throws if launch() returns an error.
template <typename Launch>
void launch_on(at::Device device, const char* op, const Launch& launch) {
  const c10::cuda::CUDAGuard guard(device);
  const int error = launch(c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CHECK(error == 0, op, ": the launch failed with CUDA error ", error);
}

// Calls cuda(stream) on CUDA, or cpu(begin, end) for parts of [0, n) on the CPU's threads.
template <typename Cuda, typename Cpu>
void run_kernel(at::Device device, const char* op, std::int64_t n, std::int64_t grain, const Cuda& cuda,
                const Cpu& cpu) {
  if (device.is_cuda()) return launch_on(device, op, cuda);
  at::parallel_for(0, n, grain, cpu);
}

}  // namespace headroom::kernels
