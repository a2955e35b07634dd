// Classifies exceptions that leave a run.
#pragma once

#include <exception>
#include <string_view>

#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

namespace headroom::live {

// True if the device had no memory left for LibTorch's allocator, or for CUDA and cuBLAS themselves (contexts, kernels'
// local memory, handles).
inline bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  if (const auto* cuda = dynamic_cast<const c10::AcceleratorError*>(&error))
    return cuda->get_error_code() == cudaErrorMemoryAllocation;
  // cuBLAS's status is only in the error's text.
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  return torch != nullptr &&
         std::string_view(torch->what_without_backtrace()).find("CUBLAS_STATUS_ALLOC_FAILED") != std::string_view::npos;
}

}  // namespace headroom::live
