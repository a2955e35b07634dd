// Models compared block by block, by closed form: GPT-2 XL and Llamas.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "demos/llama/config.h"
#include "demos/record/units.h"

namespace headroom::llama {

// A model of the GPT family; the switches are features of GPT-2 that Llama lacks.
struct Architecture {
  std::string_view name;  // "GPT-2 XL"
  Config shape;           // num_kv_heads = num_heads without grouped-query attention
  std::int64_t context = 0;
  bool learned_positions = false;  // table [context, H] added to the embedding; false: RoPE
  bool layer_norm = false;         // weight and bias; false: RMSNorm, weight only
  bool gelu = false;               // two matrices; false: SwiGLU's three
  bool dropout = false;
  bool biases = false;  // in all projections
};

// From the published configurations of Llama 3.2 1B, Llama 3 8B, GPT-2 XL, Llama 2 7B and Llama 3 70B.
std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view id);  // by Config::id; null if unknown

enum class Block : std::uint8_t { kEmbedding, kPositions, kNorms, kAttention, kMlp, kDropout, kFinalNorm, kHead };
inline constexpr std::size_t kNumBlocks = 8;

// Sums over all layers.
struct BlockNumbers {
  std::string shape;  // of one matrix: "3 × 2,048 × 8,192"
  std::int64_t parameters = 0;
  double flops = 0;        // forward, per token: GEMMs and causal attention
  record::Bytes kept = 0;  // per token for backward, 16 bits, flash attention: each operand once
};

// `sequence`: T, for attention's FLOPs. The embedding has 262,668,288 of 1B's 1,235,814,400 parameters, 21.25 %.
// GPT-2 XL has 1,557,611,200.
BlockNumbers numbers_of(const Architecture& model, Block block, std::int64_t sequence);
std::int64_t num_parameters(const Architecture& model);

// Bytes that all layers of a GPT-2 keep for backward with stored scores and dropout (Korthikanti et al. 2022,
// arXiv:2205.05198 §4.1), `element` bytes per number. Per layer: 16 numbers and two 1-byte masks per token and hidden
// unit, two numbers and a mask per score. In 16 bits B T H L (34 + 5 A T / H): GPT-2 XL, one sequence of 1,024:
// 8,965,324,800.
record::Bytes bytes_with_scores(const Config& shape, std::int64_t batch, std::int64_t sequence, record::Bytes element);

}  // namespace headroom::llama
