// Goes from LibTorch's types to those of the kernels. Included only by *_ops.cpp.
#pragma once

#include <optional>

#include <ATen/ATen.h>

#include "kernels/storage.h"

namespace headroom::kernels {

// None for a type that no kernel takes.
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

}  // namespace headroom::kernels
