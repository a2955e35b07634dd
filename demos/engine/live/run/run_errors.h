// What an exception that left a run means.
#pragma once

#include <exception>

namespace headroom::live {

// Whether the device had no memory to give, whoever asked: LibTorch's allocator, or CUDA and cuBLAS behind its back
// (contexts, kernels' local memory, handles).
bool is_out_of_memory(const std::exception& error);

}  // namespace headroom::live
