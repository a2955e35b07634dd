// FLOPs of attention in one step, all layers, forward and backward pass: eager, and tiled (Dao et al. 2022,
// arXiv:2205.14135).
#pragma once

#include <cstdint>

#include "demos/predict/step_settings.h"

namespace headroom::predict {

// One GEMM over all pairs of queries and keys: 2 · L · B · A · T² · D. 1B, 4 sequences of 1,024: 2.75·10¹¹.
constexpr double attention_product_flops(const StepSettings& step) {
  const auto t = static_cast<double>(step.sequence);
  return 2.0 * static_cast<double>(step.model.num_layers * step.batch * step.model.num_heads * step.model.head_dim) *
         t * t;
}

// Forward: scores and output. Backward: gradients of values, probabilities, queries and keys.
constexpr double eager_attention_flops(const StepSettings& step) { return 6 * attention_product_flops(step); }

// Seven GEMMs, since the backward pass recomputes the scores. Tiles above the diagonal are skipped.
constexpr double flash_attention_flops(const StepSettings& step, std::int64_t tile) {
  const std::int64_t n = (step.sequence + tile - 1) / tile;
  const double share = static_cast<double>(n + 1) / static_cast<double>(2 * n);
  return 7 * share * attention_product_flops(step);
}

// Bytes kept instead of the scores: one fp32 number per head and token. 1B, 4 sequences of 1,024: 524,288.
constexpr record::Bytes log_sum_exp_bytes(const StepSettings& step) {
  return 4 * step.batch * step.sequence * step.model.num_heads;
}

}  // namespace headroom::predict
