// Models compared block by block by closed form: GPT-2 XL and Llamas.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "demos/llama/config.h"
#include "demos/record/units.h"

namespace headroom::llama {

// The flags mark features of GPT-2 that Llama lacks.
struct Architecture {
  std::string_view name;  // "GPT-2 XL"
  Config shape;           // num_kv_heads = num_heads without grouped-query attention
  std::int64_t context = 0;
  bool learned_positions = false;  // table [context, H] added to the embedding; false: RoPE
  bool layer_norm = false;         // LayerNorm; false: RMSNorm, without bias
  bool gelu = false;               // two matrices in the MLP; false: SwiGLU's three
  bool dropout = false;
  bool biases = false;  // in all projections
};

// Llama 3.2 1B, Llama 3 8B, GPT-2 XL, Llama 2 7B and Llama 3 70B.
std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view id);  // by Config::id

enum class Block : std::uint8_t { kEmbedding, kPositions, kNorms, kAttention, kMlp, kDropout, kFinalNorm, kHead };
inline constexpr std::size_t kNumBlocks = 8;

// Summed over all layers.
struct BlockNumbers {
  std::string shape;  // matrices of one layer: "3 × 2,048 × 8,192"
  std::int64_t parameters = 0;
  double flops = 0;        // forward, per token: GEMMs and causal attention
  record::Bytes kept = 0;  // per token for the backward pass, in 16 bits with flash attention; each operand counts once
};

// `sequence`: T, for attention's FLOPs.
BlockNumbers numbers_of(const Architecture& model, Block block, std::int64_t sequence);
// Llama 3.2 1B: 1,235,814,400; embedding: 262,668,288 (21.25 %). GPT-2 XL: 1,557,611,200.
std::int64_t num_parameters(const Architecture& model);

// Bytes that all layers of a GPT-2 keep for the backward pass with stored scores and dropout (Korthikanti et al. 2022,
// arXiv:2205.05198 §4.1); `element`: bytes per number. Per layer: 16 numbers and two 1-byte masks per token and hidden
// unit, and two numbers and a mask per score. In 16 bits: B T H L (34 + 5 A T / H), 8,965,324,800 for one sequence of
// 1,024 in GPT-2 XL.
record::Bytes bytes_with_scores(const Config& shape, std::int64_t batch, std::int64_t sequence, record::Bytes element);

}  // namespace headroom::llama
