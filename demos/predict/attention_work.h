// The arithmetic of attention in one step, forward and backward, over all layers: composed, and by tiles (Dao et al. 2022,
// arXiv:2205.14135). Closed form.
#pragma once

#include <cstdint>

#include "demos/predict/step_settings.h"

namespace headroom::predict {

// Floating-point operations of one product over all pairs of queries and keys, in all layers: 2 · L · B · A · T² · D. 1B, 4
// sequences of 1,024: 2.75·10¹¹.
constexpr double attention_product_flops(const StepSettings& step) {
  const auto t = static_cast<double>(step.sequence);
  return 2.0 * static_cast<double>(step.model.num_layers * step.batch * step.model.num_heads * step.model.head_dim) *
         t * t;
}

// Scores and output in forward; the gradients of values, probabilities, queries and keys in backward.
constexpr double eager_attention_flops(const StepSettings& step) { return 6 * attention_product_flops(step); }

// Backward computes the scores again: seven products. Tiles above the diagonal are left out.
constexpr double flash_attention_flops(const StepSettings& step, std::int64_t tile) {
  const std::int64_t n = (step.sequence + tile - 1) / tile;
  const double share = static_cast<double>(n + 1) / static_cast<double>(2 * n);
  return 7 * share * attention_product_flops(step);
}

// What attention by tiles keeps for backward in place of a layer's scores: one fp32 number per head and token. 1B, 4
// sequences of 1,024: 524,288.
constexpr record::Bytes log_sum_exp_bytes(const StepSettings& step) {
  return 4 * step.batch * step.sequence * step.model.num_heads;
}

}  // namespace headroom::predict
