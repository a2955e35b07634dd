// The ratio of the loss's live fp32 logits to the layer inputs that checkpointing keeps. Both are linear in the
// tokens.
#pragma once

#include <cstdint>
#include <string_view>

#include "demos/llama/architecture.h"
#include "demos/record/units.h"

namespace headroom::predict {

struct NeedleShape {
  std::string_view key, name;  // "llama-3.2-1b", "Llama 3.2 1B"
  std::int64_t vocab_size = 0, hidden_size = 0, num_layers = 0;
};

inline NeedleShape needle_shape(const llama::Architecture& model) {
  return {model.shape.id, model.name, model.shape.vocab_size, model.shape.hidden_size, model.shape.num_layers};
}

// `copies` tensors of [tokens, V] in fp32. 1B, three copies, 4,096 tokens: 6,304,038,912 B.
constexpr record::Bytes needle_bytes(const NeedleShape& shape, std::int64_t copies, std::int64_t tokens) {
  return copies * 4 * shape.vocab_size * tokens;
}
// One 16-bit input [tokens, H] per layer. 1B, 4,096 tokens: 268,435,456 B.
constexpr record::Bytes kept_inputs_bytes(const NeedleShape& shape, std::int64_t tokens) {
  return 2 * shape.hidden_size * shape.num_layers * tokens;
}
// For any number of tokens. 1B, three copies: 23.48.
constexpr double needle_ratio(const NeedleShape& shape, std::int64_t copies) {
  return static_cast<double>(needle_bytes(shape, copies, 1)) / static_cast<double>(kept_inputs_bytes(shape, 1));
}

}  // namespace headroom::predict
