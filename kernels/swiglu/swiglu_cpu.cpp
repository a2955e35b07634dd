// SwiGLU on the CPU.
#include "kernels/gated/gated_cpu.h"
#include "kernels/swiglu/swiglu.h"

namespace headroom::kernels {

namespace {

struct Silu {
  static HEADROOM_INLINE float value(float x) { return x * sigmoid(x); }
  static HEADROOM_INLINE ValueAndSlope value_and_slope(float x) {
    const float s = sigmoid(x);
    return {.value = x * s, .slope = s * (1.0f + x * (1.0f - s))};
  }
};

}  // namespace

HEADROOM_VECTOR_TARGETS void swiglu_forward_cpu(const GatedForward& args, Storage storage, std::int64_t begin,
                                                std::int64_t end) {
  gated_forward_cpu<Silu>(args, storage, begin, end);
}

HEADROOM_VECTOR_TARGETS void swiglu_backward_cpu(const GatedBackward& args, Storage storage, std::int64_t begin,
                                                 std::int64_t end) {
  gated_backward_cpu<Silu>(args, storage, begin, end);
}

}  // namespace headroom::kernels
