// AdamW on the CPU: a plain loop that the compiler vectorizes.
#include <cstdint>
#include <type_traits>

#include "kernels/adamw/adamw.h"
#include "kernels/adamw/adamw_math.h"
#include "kernels/common/storage_cpu.h"

namespace headroom::kernels {

namespace {

template <typename P, typename G, typename M, typename W, bool kStochastic>
HEADROOM_INLINE void loop(const AdamWTensor& tensor, const AdamWShared& shared, std::int64_t begin, std::int64_t end) {
  P* __restrict param = static_cast<P*>(tensor.param);
  const G* __restrict gradient = static_cast<const G*>(tensor.gradient);
  M* __restrict first_moment = static_cast<M*>(tensor.first_moment);
  M* __restrict second_moment = static_cast<M*>(tensor.second_moment);
  [[maybe_unused]] W* __restrict working = static_cast<W*>(tensor.working);
  const AdamWStep step = shared.step;
  const float gradient_scale = shared.gradient_scale;
  [[maybe_unused]] const RoundingKey key = shared.key;
  for (std::int64_t i = begin; i < end; ++i) {
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

HEADROOM_VECTOR_TARGETS void adamw_cpu(const AdamWTensor& tensor, const AdamWTypes& types, std::int64_t begin,
                                       std::int64_t end, const AdamWStep& step, const AdamWSwitches& switches) {
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  const AdamWShared shared = adamw_shared(step, switches, tensor.decays, tensor.number);
  const bool narrow = types.moment == Storage::kBf16;
  with_weight(types, [&](auto p, auto g, auto w) HEADROOM_INLINED {
    using P = decltype(p);
    using G = decltype(g);
    using W = decltype(w);
    if constexpr (std::is_same_v<P, Bf16>) {
      if (shared.stochastic)
        return narrow ? loop<P, G, Bf16, W, true>(tensor, shared, begin, end)
                      : loop<P, G, float, W, true>(tensor, shared, begin, end);
    }
    return narrow ? loop<P, G, Bf16, W, false>(tensor, shared, begin, end)
                  : loop<P, G, float, W, false>(tensor, shared, begin, end);
  });
}

}  // namespace headroom::kernels
