// The ratio of the loss's live fp32 logits to the layer inputs that checkpointing keeps. Both are linear in the number
// of tokens.
#pragma once

#include <cstdint>

#include "demos/llama/config.h"
#include "demos/record/units.h"

namespace headroom::predict {

// `copies` tensors of [tokens, V] in fp32. 1B, three copies, 4,096 tokens: 6,304,038,912 B.
constexpr record::Bytes needle_bytes(const llama::Config& shape, std::int64_t copies, std::int64_t tokens) {
  return copies * 4 * shape.vocab_size * tokens;
}
// One 16-bit input [tokens, H] per layer. 1B, 4,096 tokens: 268,435,456 B.
constexpr record::Bytes kept_inputs_bytes(const llama::Config& shape, std::int64_t tokens) {
  return 2 * shape.hidden_size * shape.num_layers * tokens;
}
// Ratio for any number of tokens. 1B, three copies: 23.48.
constexpr double needle_ratio(const llama::Config& shape, std::int64_t copies) {
  return static_cast<double>(needle_bytes(shape, copies, 1)) / static_cast<double>(kept_inputs_bytes(shape, 1));
}

}  // namespace headroom::predict
