// Classifies exceptions that leave a run.
#pragma once

#include <exception>

namespace headroom::live {

// True if the device had no memory, for LibTorch's allocator or directly for CUDA and cuBLAS (contexts, kernels' local
// memory, handles).
bool is_out_of_memory(const std::exception& error);

}  // namespace headroom::live
