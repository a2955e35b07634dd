// Arguments of SwiGLU and GeGLU: h = activation(gate) · up.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

namespace headroom::kernels {

// Arrays of [n], in one storage.
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
  void* h;      // receives the recomputed h; may be dh; optional
};

struct GatedKernels {
  const char* name;
  void (*forward_cpu)(const GatedForward& args, Storage storage, std::int64_t begin, std::int64_t end);
  void (*backward_cpu)(const GatedBackward& args, Storage storage, std::int64_t begin, std::int64_t end);
  int (*forward_cuda)(const GatedForward& args, Storage storage, std::int64_t n, CUstream_st* stream);
  int (*backward_cuda)(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream);
};

}  // namespace headroom::kernels
