// Computes    h = gelu(gate) · up with gelu(x) = ½ x (1 + tanh(u)) = x σ(2u), u = √(2/π) (x + 0.044715 x³); backward
//             dgate = dh · up · gelu'(gate), dup = dh · gelu(gate) and optionally h
// Shapes      all [n], contiguous
// Precision   as SwiGLU. σ instead of tanh: for x < −2, 1 + tanh(u) cancels, and the hardware's tanh has only 11 bits
// Memory      as SwiGLU
// Variants    as SwiGLU
// Source      Shazeer 2020, GLU Variants Improve Transformer, arXiv:2002.05202, equation 6; Hendrycks, Gimpel 2016,
//             arXiv:1606.08415, section 2
// Checked by  tests/kernels/layers/gated_cases.cpp
#include "kernels/gated/gated.cuh"
#include "kernels/geglu/geglu.h"

namespace headroom::kernels {

namespace {

constexpr float kLinear = 1.5957691216057308f;  // 2 √(2/π)
constexpr float kCubic = 0.07135481282553504f;  // 0.044715 · 2 √(2/π)

template <typename T>
struct Gelu {
  static __device__ __forceinline__ float value(float x) { return x * sigmoid<T>(x * (kLinear + kCubic * x * x)); }
  static __device__ __forceinline__ ValueAndSlope value_and_slope(float x) {
    const float s = sigmoid<T>(x * (kLinear + kCubic * x * x));
    return {.value = x * s, .slope = s + x * (s * (1.0f - s)) * (kLinear + 3.0f * kCubic * x * x)};
  }
};

}  // namespace

int geglu_forward_cuda(const GatedForward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return gated_forward_cuda<Gelu>(args, storage, n, stream);
}

int geglu_backward_cuda(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return gated_backward_cuda<Gelu>(args, storage, n, stream);
}

}  // namespace headroom::kernels
