// Rotary position embedding, in place.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

namespace headroom::kernels {

// [B, T, heads, D] with free strides, in elements; D is contiguous.
struct RopeTensor {
  void* data;
  std::int64_t heads;
  std::int64_t batch_stride, time_stride, head_stride;
};

struct RopeArgs {
  RopeTensor q, k;
  const float* cos;  // [T, D/2]
  const float* sin;  // [T, D/2]
  std::int64_t batch, length, head_dim;
  bool inverse;  // rotates back
  Storage storage;
};

// Rotates tokens [begin, end) of B·T.
void rope_cpu(const RopeArgs& args, std::int64_t begin, std::int64_t end);

int rope_cuda(const RopeArgs& args, CUstream_st* stream);

}  // namespace headroom::kernels
