// AdamW on the CPU: one plain loop that the compiler turns into vector instructions, fp32 arithmetic on fp32 or bf16
// storage.
#include <cmath>

#include "kernels/adamw/adamw.h"
#include "kernels/storage_cpu.h"

namespace headroom::kernels {

namespace {

template <typename T>
void adamw_loop(const AdamWTensors<T>& tensors, std::int64_t begin, std::int64_t end, const AdamWStep& step) {
  T* __restrict param = tensors.param;
  const T* __restrict gradient = tensors.gradient;
  T* __restrict first_moment = tensors.first_moment;
  T* __restrict second_moment = tensors.second_moment;
  for (std::int64_t i = begin; i < end; ++i) {
    const float g = load(gradient[i]);
    const float m = step.beta1 * load(first_moment[i]) + (1 - step.beta1) * g;
    const float v = step.beta2 * load(second_moment[i]) + (1 - step.beta2) * g * g;
    const float denominator = std::sqrt(v) * step.second_moment_scale + step.epsilon;
    store(param[i], step.decay * load(param[i]) - step.step_size * m / denominator);
    store(first_moment[i], m);
    store(second_moment[i], v);
  }
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

void adamw_cpu(const AdamWTensors<float>& tensors, std::int64_t begin, std::int64_t end, const AdamWStep& step) {
  adamw_loop(tensors, begin, end, step);
}

void adamw_cpu(const AdamWTensors<Bf16>& tensors, std::int64_t begin, std::int64_t end, const AdamWStep& step) {
  adamw_loop(tensors, begin, end, step);
}

}  // namespace headroom::kernels
