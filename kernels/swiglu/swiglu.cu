// Computes    h = silu(gate) · up, silu(x) = x σ(x); backward dgate = dh · up · σ (1 + x (1 − σ)),
//             dup = dh · silu(gate) and optionally h
// Shapes      all [n], contiguous
// Precision   storage fp32, bf16 or fp16; arithmetic fp32, with the fast exponential for 16-bit storage
// Memory      forward moves 3·n·s bytes, backward 5·n·s, 6·n·s with h
// Variants    16 bytes per thread and array if aligned, otherwise single elements; kernels/gated/gated.cuh
// Source      Shazeer 2020, GLU Variants Improve Transformer, arXiv:2002.05202, equation 6
// Checked by  tests/kernels/layers/gated_cases.cpp
#include "kernels/gated/gated.cuh"
#include "kernels/swiglu/swiglu.h"

namespace headroom::kernels {

namespace {

template <typename T>
struct Silu {
  static __device__ __forceinline__ float value(float x) { return x * sigmoid<T>(x); }
  static __device__ __forceinline__ ValueAndSlope value_and_slope(float x) {
    const float s = sigmoid<T>(x);
    return {.value = x * s, .slope = s * (1.0f + x * (1.0f - s))};
  }
};

}  // namespace

int swiglu_forward_cuda(const GatedForward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return gated_forward_cuda<Silu>(args, storage, n, stream);
}

int swiglu_backward_cuda(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return gated_backward_cuda<Silu>(args, storage, n, stream);
}

}  // namespace headroom::kernels
