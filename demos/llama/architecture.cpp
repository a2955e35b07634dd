// Counts parameters, FLOPs and kept bytes of blocks.
#include "demos/llama/architecture.h"

#include <fmt/format.h>

#include "demos/record/find.h"

namespace headroom::llama {

namespace {

using record::format_count;

constexpr record::Bytes kElement = 2, kLogSumExp = 4, kMask = 1, kTokenId = 8;

// Shapes are from config.json of openai-community/gpt2-xl, meta-llama/Llama-2-7b and meta-llama/Meta-Llama-3-70B.
std::array<Architecture, 5> made_architectures() {
  const Architecture llama_3{.name = "Llama 3 8B", .shape = *find_config("llama-3-8b"), .context = 8192};
  Architecture large = llama_3;
  large.name = "Llama 3 70B";
  large.shape.id = "llama-3-70b";
  large.shape.hidden_size = 8192;
  large.shape.intermediate_size = 28672;
  large.shape.num_layers = 80;
  large.shape.num_heads = 64;
  const Config gpt_2{.id = "gpt2-xl",
                     .hidden_size = 1600,
                     .intermediate_size = 6400,
                     .num_layers = 48,
                     .num_heads = 25,
                     .num_kv_heads = 25,
                     .head_dim = 64,
                     .vocab_size = 50257};
  const Config llama_2{.id = "llama-2-7b",
                       .hidden_size = 4096,
                       .intermediate_size = 11008,
                       .num_layers = 32,
                       .num_heads = 32,
                       .num_kv_heads = 32,
                       .head_dim = 128,
                       .vocab_size = 32000,
                       .tie_word_embeddings = false,
                       .rope_theta = 10000};
  return {{{.name = "Llama 3.2 1B", .shape = *find_config("llama-3.2-1b"), .context = 131072},
           llama_3,
           {.name = "GPT-2 XL",
            .shape = gpt_2,
            .context = 1024,
            .learned_positions = true,
            .layer_norm = true,
            .gelu = true,
            .dropout = true,
            .biases = true},
           {.name = "Llama 2 7B", .shape = llama_2, .context = 4096},
           large}};
}

std::string by(std::int64_t rows, std::int64_t columns) {
  return fmt::format("{} × {}", format_count(rows), format_count(columns));
}

BlockNumbers attention_of(const Architecture& model, std::int64_t sequence) {
  const Config& c = model.shape;
  const std::int64_t h = c.hidden_size, q = c.num_heads * c.head_dim, kv = c.num_kv_heads * c.head_dim;
  const std::int64_t weights = 2 * h * (q + kv), bias = model.biases ? q + 2 * kv + h : 0;
  return {.shape = q == kv ? "4 × " + by(q, h) : fmt::format("2 × {}, 2 × {}", by(q, h), by(kv, h)),
          .parameters = c.num_layers * (weights + bias),
          .flops = static_cast<double>(c.num_layers * (2 * weights + 2 * q * sequence)),
          // The norm's output; Q, K, V and attention's result; one log-sum-exp per head.
          .kept = c.num_layers * (kElement * (h + 2 * q + 2 * kv) + kLogSumExp * c.num_heads)};
}

BlockNumbers mlp_of(const Architecture& model) {
  const Config& c = model.shape;
  const std::int64_t h = c.hidden_size, f = c.intermediate_size, matrices = model.gelu ? 2 : 3;
  // One bias per output: F each for gate and up, H for down.
  const std::int64_t weights = matrices * h * f, bias = model.biases ? (matrices - 1) * f + h : 0;
  return {
      .shape = fmt::format("{} × {}", matrices, by(f, h)),
      .parameters = c.num_layers * (weights + bias),
      .flops = static_cast<double>(2 * c.num_layers * weights),
      .kept = c.num_layers * kElement * (h + matrices * f)};  // the norm's output; gate, up and product, or up and GELU
}

// Each norm keeps its input.
BlockNumbers norms_of(const Architecture& model, std::int64_t count) {
  const std::int64_t h = model.shape.hidden_size, rows = model.layer_norm ? 2 : 1;
  return {
      .shape = rows == 2 ? by(rows, h) : format_count(h), .parameters = count * rows * h, .kept = count * kElement * h};
}

}  // namespace

std::span<const Architecture> architectures() {
  static const std::array<Architecture, 5> all = made_architectures();
  return all;
}

const Architecture* find_architecture(std::string_view id) {
  return record::find_in(architectures(), id, [](const Architecture& each) { return each.shape.id; });
}

BlockNumbers numbers_of(const Architecture& model, Block block, std::int64_t sequence) {
  const Config& c = model.shape;
  const std::int64_t h = c.hidden_size, table = c.vocab_size * h;
  switch (block) {
    case Block::kEmbedding:
      return {.shape = by(c.vocab_size, h), .parameters = table, .kept = kTokenId};
    case Block::kPositions:
      if (!model.learned_positions) return {.shape = "no weights"};
      return {.shape = by(model.context, h), .parameters = model.context * h};
    case Block::kNorms:
      return norms_of(model, 2 * c.num_layers);
    case Block::kAttention:
      return attention_of(model, sequence);
    case Block::kMlp:
      return mlp_of(model);
    case Block::kDropout:
      if (!model.dropout) return {.shape = "none"};
      return {.shape = "masks", .kept = kMask * h * (2 * c.num_layers + 1)};
    case Block::kFinalNorm:
      return norms_of(model, 1);
    case Block::kHead:
      return {.shape = c.tie_word_embeddings ? "the embedding" : by(c.vocab_size, h),
              .parameters = c.tie_word_embeddings ? 0 : table,
              .flops = static_cast<double>(2 * table),
              .kept = kElement * h};
  }
  return {};
}

std::int64_t num_parameters(const Architecture& model) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kNumBlocks; ++i) sum += numbers_of(model, static_cast<Block>(i), 0).parameters;
  return sum;
}

record::Bytes bytes_with_scores(const Config& shape, std::int64_t batch, std::int64_t sequence, record::Bytes element) {
  const std::int64_t tokens = batch * sequence, scores = tokens * sequence * shape.num_heads;
  const record::Bytes of_layer =
      tokens * shape.hidden_size * (16 * element + 2 * kMask) + scores * (2 * element + kMask);
  return shape.num_layers * of_layer;
}

}  // namespace headroom::llama
