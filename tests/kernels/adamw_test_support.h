// Inputs for the AdamW kernel, and its error beside that of the same step in plain PyTorch of the same type.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

namespace headroom::test {

struct AdamWErrors {
  double kernel_param, kernel_first, kernel_second;  // largest difference to float64, relative to the largest value
  double torch_param, torch_first, torch_second;     // the same for PyTorch's own operators in the storage type
};

// Three steps over n elements of random values, the tensors starting `offset` elements into their storages.
AdamWErrors adamw_errors(std::int64_t n, std::int64_t offset, at::ScalarType type, at::Device device);

}  // namespace headroom::test
