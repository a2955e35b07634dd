// What SwiGLU and GeGLU have in common on raw memory: h = activation(gate) · up, element by element. No torch.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

// All arrays [n] in one storage.
struct GatedForward {
  const void* gate;
  const void* up;
  void* h;
};

struct GatedBackward {
  const void* dh;
  const void* gate;
  const void* up;
  void* dgate;  // may be gate
  void* dup;    // may be up
  void* h;      // the forward's product once more; may be dh; null: not wanted
};

// One activation's kernels. The CPU's take elements [begin, end) on the calling thread; CUDA's queue n elements on the
// stream, allocate nothing and return the launch's cudaError_t (0: queued).
struct GatedKernels {
  const char* name;
  void (*forward_cpu)(const GatedForward& args, Storage storage, std::int64_t begin, std::int64_t end);
  void (*backward_cpu)(const GatedBackward& args, Storage storage, std::int64_t begin, std::int64_t end);
  int (*forward_cuda)(const GatedForward& args, Storage storage, std::int64_t n, CUstream_st* stream);
  int (*backward_cuda)(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream);
};

}  // namespace headroom::kernels
