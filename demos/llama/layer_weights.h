// The weights of a model's layers as one list: parameter counts, checkpoints, the engine and the predictor read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/llama/config.h"
#include "demos/llama/extension.h"
#include "demos/llama/operators.h"

namespace headroom::llama {

enum class WeightKind : std::uint8_t {
  kMatrix,    // projection's weight
  kNorm,      // row norm's weight
  kBias,      // projection's bias
  kHeadNorm,  // head norm's weight
  kRouter,    // experts' router, or a shared MLP's gate
};

constexpr bool is_norm(WeightKind kind) { return kind == WeightKind::kNorm || kind == WeightKind::kHeadNorm; }

struct LayerWeight {
  Op op{};
  WeightKind kind{};
  std::int64_t rows = 0;       // outputs
  std::int64_t columns = 1;    // inputs; vectors have one column
  std::int64_t count = 0;      // number in all layers
  std::int64_t per_token = 1;  // rows to which the weight applies; for kHeadNorm, heads

  std::int64_t elements() const { return rows * columns; }
  bool in_every_family() const { return kind == WeightKind::kMatrix || kind == WeightKind::kNorm; }
  bool in_attention() const { return op < Op::kMlpNorm; }
  // In Hugging Face checkpoints: "self_attn.q_proj.bias".
  std::string name() const;
};

// In forward order.
std::vector<LayerWeight> layer_weights(const Config& config, const Extension& extension = {});

}  // namespace headroom::llama
