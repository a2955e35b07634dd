// AdamW on the CPU: one plain loop that the compiler turns into vector instructions, fp32 arithmetic on whatever
// storage.
#include <cmath>

#include "kernels/adamw/adamw.h"
#include "kernels/storage_cpu.h"

namespace headroom::kernels {

namespace {

template <typename P, typename G, typename M>
HEADROOM_INLINE void loop(const AdamWTensor& tensor, std::int64_t begin, std::int64_t end, const AdamWStep& step) {
  P* __restrict param = static_cast<P*>(tensor.param);
  const G* __restrict gradient = static_cast<const G*>(tensor.gradient);
  M* __restrict first_moment = static_cast<M*>(tensor.first_moment);
  M* __restrict second_moment = static_cast<M*>(tensor.second_moment);
  const float decay = tensor.decays ? step.decay : 1.0f;
  for (std::int64_t i = begin; i < end; ++i) {
    const float g = load(gradient[i]);
    const float m = step.beta1 * load(first_moment[i]) + (1 - step.beta1) * g;
    const float v = step.beta2 * load(second_moment[i]) + (1 - step.beta2) * g * g;
    const float denominator = std::sqrt(v) * step.second_moment_scale + step.epsilon;
    store(param[i], decay * load(param[i]) - step.step_size * m / denominator);
    store(first_moment[i], m);
    store(second_moment[i], v);
  }
}

template <typename P, typename G>
HEADROOM_INLINE void loop(const AdamWTensor& tensor, Storage moment, std::int64_t begin, std::int64_t end,
                          const AdamWStep& step) {
  if (moment == Storage::kBf16) {
    loop<P, G, Bf16>(tensor, begin, end, step);
  } else {
    loop<P, G, float>(tensor, begin, end, step);
  }
}

template <typename P>
HEADROOM_INLINE void loop(const AdamWTensor& tensor, AdamWTypes types, std::int64_t begin, std::int64_t end,
                          const AdamWStep& step) {
  if (types.gradient == types.param) {
    loop<P, P>(tensor, types.moment, begin, end, step);
  } else {
    loop<P, float>(tensor, types.moment, begin, end, step);
  }
}

HEADROOM_VECTOR_TARGETS void loop_fp32(const AdamWTensor& tensor, AdamWTypes types, std::int64_t begin,
                                       std::int64_t end, const AdamWStep& step) {
  loop<float>(tensor, types, begin, end, step);
}
HEADROOM_VECTOR_TARGETS void loop_bf16(const AdamWTensor& tensor, AdamWTypes types, std::int64_t begin,
                                       std::int64_t end, const AdamWStep& step) {
  loop<Bf16>(tensor, types, begin, end, step);
}
HEADROOM_VECTOR_TARGETS void loop_fp16(const AdamWTensor& tensor, AdamWTypes types, std::int64_t begin,
                                       std::int64_t end, const AdamWStep& step) {
  loop<Fp16>(tensor, types, begin, end, step);
}

}  // namespace

AdamWStep adamw_step_constants(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                               std::int64_t t) {
  const double correction1 = 1 - std::pow(beta1, static_cast<double>(t));
  const double correction2 = 1 - std::pow(beta2, static_cast<double>(t));
  return {
      .decay = static_cast<float>(1 - learning_rate * weight_decay),
      .beta1 = static_cast<float>(beta1),
      .beta2 = static_cast<float>(beta2),
      .step_size = static_cast<float>(learning_rate / correction1),
      .second_moment_scale = static_cast<float>(1 / std::sqrt(correction2)),
      .epsilon = static_cast<float>(epsilon),
  };
}

void adamw_cpu(const AdamWTensor& tensor, AdamWTypes types, std::int64_t begin, std::int64_t end,
               const AdamWStep& step) {
  switch (types.param) {
    case Storage::kFp32:
      return loop_fp32(tensor, types, begin, end, step);
    case Storage::kBf16:
      return loop_bf16(tensor, types, begin, end, step);
    case Storage::kFp16:
      return loop_fp16(tensor, types, begin, end, step);
  }
}

}  // namespace headroom::kernels
