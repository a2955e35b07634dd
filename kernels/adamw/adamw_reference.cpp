// AdamW as the paper writes it (Algorithm 2, schedule multiplier 1), in float64.
#include <cmath>

#include "kernels/adamw/adamw_ops.h"

namespace headroom::kernels {

AdamWReference adamw_reference(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
                               const at::Tensor& second_moment, double learning_rate, double beta1, double beta2,
                               double epsilon, double weight_decay, std::int64_t t) {
  const at::Tensor p = param.to(at::kDouble);
  const at::Tensor g = gradient.to(at::kDouble);
  const at::Tensor m = beta1 * first_moment.to(at::kDouble) + (1 - beta1) * g;
  const at::Tensor v = beta2 * second_moment.to(at::kDouble) + (1 - beta2) * g * g;
  const at::Tensor m_hat = m / (1 - std::pow(beta1, static_cast<double>(t)));
  const at::Tensor v_hat = v / (1 - std::pow(beta2, static_cast<double>(t)));
  const at::Tensor stepped = p - learning_rate * (m_hat / (v_hat.sqrt() + epsilon) + weight_decay * p);
  return {.param = stepped, .first_moment = m, .second_moment = v};
}

}  // namespace headroom::kernels
