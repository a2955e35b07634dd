// AdamW on the CPU: one plain loop that the compiler vectorizes, fp32 arithmetic on any storage.
#include <cstdint>
#include <type_traits>

#include "kernels/adamw/adamw.h"
#include "kernels/adamw/adamw_math.h"
#include "kernels/common/storage_cpu.h"

namespace headroom::kernels {

namespace {

// A thread's part of a tensor, with the values read from device memory.
struct Part {
  const AdamWTensor& tensor;
  const AdamWTypes& types;
  std::int64_t begin, end;
  AdamWStep step;
  float gradient_scale;
  bool stochastic;
  RoundingKey key;
};

struct NoCopy {};

template <typename P, typename G, typename M, typename W, bool kStochastic>
HEADROOM_INLINE void loop(const Part& part) {
  P* __restrict param = static_cast<P*>(part.tensor.param);
  const G* __restrict gradient = static_cast<const G*>(part.tensor.gradient);
  M* __restrict first_moment = static_cast<M*>(part.tensor.first_moment);
  M* __restrict second_moment = static_cast<M*>(part.tensor.second_moment);
  [[maybe_unused]] W* __restrict working = static_cast<W*>(part.tensor.working);
  const AdamWStep step = part.step;
  const float gradient_scale = part.gradient_scale;
  [[maybe_unused]] const RoundingKey key = part.key;
  for (std::int64_t i = part.begin; i < part.end; ++i) {
    float p = load(param[i]), m = load(first_moment[i]), v = load(second_moment[i]);
    adamw_element(p, load(gradient[i]) * gradient_scale, m, v, step);
    if constexpr (kStochastic) {
      param[i].bits = rounded_stochastically(p, (rounding_bits(key, i / 2) >> (i % 2 * 16)) & 0xffffu);
    } else {
      store(param[i], p);
    }
    if constexpr (!std::is_same_v<W, NoCopy>) store(working[i], p);
    store(first_moment[i], m);
    store(second_moment[i], v);
  }
}

template <typename P, typename G, typename W = NoCopy>
HEADROOM_INLINE void with_moment(const Part& part) {
  const bool narrow = part.types.moment == Storage::kBf16;
  if constexpr (std::is_same_v<P, Bf16>) {
    if (part.stochastic) return narrow ? loop<P, G, Bf16, W, true>(part) : loop<P, G, float, W, true>(part);
  }
  return narrow ? loop<P, G, Bf16, W, false>(part) : loop<P, G, float, W, false>(part);
}

template <typename P>
HEADROOM_INLINE void plain(const Part& part) {
  part.types.gradient == part.types.param ? with_moment<P, P>(part) : with_moment<P, float>(part);
}
template <typename W>
HEADROOM_INLINE void with_copy(const Part& part) {
  part.types.gradient == Storage::kFp32 ? with_moment<float, float, W>(part) : with_moment<float, W, W>(part);
}

HEADROOM_VECTOR_TARGETS void loop_fp32(const Part& part) { plain<float>(part); }
HEADROOM_VECTOR_TARGETS void loop_bf16(const Part& part) { plain<Bf16>(part); }
HEADROOM_VECTOR_TARGETS void loop_fp16(const Part& part) { plain<Fp16>(part); }
HEADROOM_VECTOR_TARGETS void loop_bf16_copy(const Part& part) { with_copy<Bf16>(part); }
HEADROOM_VECTOR_TARGETS void loop_fp16_copy(const Part& part) { with_copy<Fp16>(part); }

}  // namespace

AdamWStep adamw_step_constants(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                               std::int64_t t) {
  AdamWStep step{
      .decay = static_cast<float>(1 - learning_rate * weight_decay),
      .beta1 = static_cast<float>(beta1),
      .beta2 = static_cast<float>(beta2),
      .step_size = 0,
      .second_moment_scale = 0,
      .epsilon = static_cast<float>(epsilon),
      .t = t,
      .learning_rate = learning_rate,
      .exact_beta1 = beta1,
      .exact_beta2 = beta2,
  };
  set_bias_corrections(step, t);
  return step;
}

void adamw_cpu(const AdamWTensor& tensor, const AdamWTypes& types, std::int64_t begin, std::int64_t end,
               const AdamWStep& step, const AdamWSwitches& switches) {
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  Part part{.tensor = tensor,
            .types = types,
            .begin = begin,
            .end = end,
            .step = step,
            .gradient_scale = switches.inverse_scale != nullptr ? *switches.inverse_scale : 1.0f,
            .stochastic = switches.stochastic_rounding,
            .key = {}};
  if (switches.step_count != nullptr) set_bias_corrections(part.step, *switches.step_count);
  if (!tensor.decays) part.step.decay = 1.0f;
  part.key = rounding_key(switches.seed, part.step.t, tensor.number);
  if (types.working) return *types.working == Storage::kBf16 ? loop_bf16_copy(part) : loop_fp16_copy(part);
  switch (types.param) {
    case Storage::kFp32:
      return loop_fp32(part);
    case Storage::kBf16:
      return loop_bf16(part);
    case Storage::kFp16:
      return loop_fp16(part);
  }
}

}  // namespace headroom::kernels
