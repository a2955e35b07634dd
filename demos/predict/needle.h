// When the loss is the problem: the fp32 logits that are alive at once beside the inputs of layers that checkpointing
// keeps. Both are linear in the number of tokens. Closed form.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::predict {

// What decides the ratio, of a model.
struct NeedleShape {
  std::string_view key, name;  // "llama-3.2-1b", "Llama 3.2 1B"
  std::int64_t vocab_size = 0, hidden_size = 0, num_layers = 0;
};

// From the models' published configurations.
inline constexpr std::array<NeedleShape, 5> kNeedleShapes{{{"llama-3.2-1b", "Llama 3.2 1B", 128'256, 2048, 16},
                                                           {"llama-3-8b", "Llama 3 8B", 128'256, 4096, 32},
                                                           {"gpt2-xl", "GPT-2 XL", 50'257, 1600, 48},
                                                           {"llama-2-7b", "Llama 2 7B", 32'000, 4096, 32},
                                                           {"llama-3-70b", "Llama 3 70B", 128'256, 8192, 80}}};

// `copies` tensors of [tokens, V] in fp32. 1B, three copies, 4,096 tokens: 6,304,038,912 B.
constexpr record::Bytes needle_bytes(const NeedleShape& shape, std::int64_t copies, std::int64_t tokens) {
  return copies * 4 * shape.vocab_size * tokens;
}
// One 16-bit input [tokens, H] per layer. 1B, 4,096 tokens: 268,435,456 B.
constexpr record::Bytes kept_inputs_bytes(const NeedleShape& shape, std::int64_t tokens) {
  return 2 * shape.hidden_size * shape.num_layers * tokens;
}
// The first over the second, at any number of tokens. 1B, three copies: 23.48.
constexpr double needle_ratio(const NeedleShape& shape, std::int64_t copies) {
  return static_cast<double>(needle_bytes(shape, copies, 1)) / static_cast<double>(kept_inputs_bytes(shape, 1));
}

}  // namespace headroom::predict
