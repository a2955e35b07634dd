// Converts LibTorch's types to those of the kernels. Included only by *_ops.cpp.
#pragma once

#include <optional>

#include <ATen/ATen.h>

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

}  // namespace headroom::kernels
