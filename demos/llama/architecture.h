// Models side by side, block by block: GPT-2 XL and Llamas, with what differs between them. Closed form.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "demos/llama/config.h"
#include "demos/record/units.h"

namespace headroom::llama {

// A model of the GPT family. What GPT-2 has and Llama has not is a switch.
struct Architecture {
  std::string_view name;  // "GPT-2 XL"
  Config shape;           // with as many key and value heads as heads: nothing is shared
  std::int64_t context = 0;
  bool learned_positions =
      false;                // a table [context, H] that is added to the embedding; else RoPE, which has no weights
  bool layer_norm = false;  // a weight and a bias per number; else RMSNorm, which has the weight alone
  bool gelu = false;        // an MLP of two matrices; else SwiGLU's three
  bool dropout = false;
  bool biases = false;  // of all projections
};

// Llama 3.2 1B, Llama 3 8B, GPT-2 XL, Llama 2 7B, Llama 3 70B: from their published configurations.
std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view id);  // by Config::id; null: unknown

enum class Block : std::uint8_t { kEmbedding, kPositions, kNorms, kAttention, kMlp, kDropout, kFinalNorm, kHead };
inline constexpr std::size_t kNumBlocks = 8;

// In all layers together.
struct BlockNumbers {
  std::string shape;  // of one of them: "3 × 2,048 × 8,192"
  std::int64_t parameters = 0;
  double flops = 0;        // forward per token: the matrix products, attention with earlier positions only
  record::Bytes kept = 0;  // per token for backward, in 16 bits: each operand once, by flash attention
};

// `sequence`: T, of attention's products. 1B: the embedding has 262,668,288 parameters, 21.25 % of 1,235,814,400; GPT-2 XL has
// 1,557,611,200 in all.
BlockNumbers numbers_of(const Architecture& model, Block block, std::int64_t sequence);
std::int64_t num_parameters(const Architecture& model);

// Bytes that all layers of a GPT-2 keep for backward with stored scores and dropout (Korthikanti et al. 2022, arXiv:2205.05198
// §4.1), `element` bytes per number. Per layer, token and hidden unit: 16 numbers and two masks of a byte each; per score, two
// numbers and a mask. In 16 bits B T H L (34 + 5 A T / H): GPT-2 XL, one sequence of 1,024: 8,965,324,800.
record::Bytes bytes_with_scores(const Config& shape, std::int64_t batch, std::int64_t sequence, record::Bytes element);

}  // namespace headroom::llama
