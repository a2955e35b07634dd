// Rotary position embedding on raw memory: queries and keys together, in place. No torch.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

// [B, T, heads, D] with free strides, in elements; the last dimension is contiguous.
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
  bool inverse;  // turns back
  Storage storage;
};

// Tokens [begin, end) of B·T on the calling thread.
void rope_cpu(const RopeArgs& args, std::int64_t begin, std::int64_t end);

// Queues all tokens on the stream; allocates nothing. Returns the launch's cudaError_t (0: queued).
int rope_cuda(const RopeArgs& args, CUstream_st* stream);

}  // namespace headroom::kernels
