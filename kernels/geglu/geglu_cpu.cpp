// GeGLU on the CPU, computed as in geglu.cu.
#include "kernels/gated/gated_cpu.h"
#include "kernels/geglu/geglu.h"

namespace headroom::kernels {

namespace {

constexpr float kLinear = 1.5957691216057308f;  // 2 √(2/π)
constexpr float kCubic = 0.07135481282553504f;  // 0.044715 · 2 √(2/π)

struct Gelu {
  static HEADROOM_INLINE float value(float x) { return x * sigmoid(x * (kLinear + kCubic * x * x)); }
  static HEADROOM_INLINE ValueAndSlope value_and_slope(float x) {
    const float s = sigmoid(x * (kLinear + kCubic * x * x));
    return {.value = x * s, .slope = s + x * (s * (1.0f - s)) * (kLinear + 3.0f * kCubic * x * x)};
  }
};

}  // namespace

HEADROOM_VECTOR_TARGETS void geglu_forward_cpu(const GatedForward& args, Storage storage, std::int64_t begin,
                                               std::int64_t end) {
  gated_forward_cpu<Gelu>(args, storage, begin, end);
}

HEADROOM_VECTOR_TARGETS void geglu_backward_cpu(const GatedBackward& args, Storage storage, std::int64_t begin,
                                                std::int64_t end) {
  gated_backward_cpu<Gelu>(args, storage, begin, end);
}

}  // namespace headroom::kernels
