// Lists published shapes, and checks shapes.
#include "demos/llama/config.h"

#include "demos/llama/layer_weights.h"
#include "demos/record/find.h"

namespace headroom::llama {

namespace {

// Shapes from config.json of meta-llama/Llama-3.2-1B, -3B and meta-llama/Meta-Llama-3-8B (3.1 differs only in its RoPE
// scaling, factor 8). tiny is ours: byte tokens need 256 ids, but a larger vocabulary keeps the ratio of logits to
// layers near Llama 3.2 1B's: 12·V / (L·(16H + …)), in bytes per token, is 0.6 (1B: 0.9).
constexpr std::array<Config, 4> kPublished{{
    {.id = "tiny",
     .hidden_size = 256,
     .intermediate_size = 704,
     .num_layers = 4,
     .num_heads = 8,
     .num_kv_heads = 4,
     .head_dim = 32,
     .vocab_size = 4096,
     .tie_word_embeddings = true,
     .rope_theta = 10000},
    {.id = "llama-3.2-1b",
     .hidden_size = 2048,
     .intermediate_size = 8192,
     .num_layers = 16,
     .num_heads = 32,
     .num_kv_heads = 8,
     .head_dim = 64,
     .vocab_size = 128256,
     .tie_word_embeddings = true,
     .rope_theta = 500000,
     .rope_scaling = RopeScaling{.factor = 32}},
    {.id = "llama-3.2-3b",
     .hidden_size = 3072,
     .intermediate_size = 8192,
     .num_layers = 28,
     .num_heads = 24,
     .num_kv_heads = 8,
     .head_dim = 128,
     .vocab_size = 128256,
     .tie_word_embeddings = true,
     .rope_theta = 500000,
     .rope_scaling = RopeScaling{.factor = 32}},
    {.id = "llama-3-8b",
     .hidden_size = 4096,
     .intermediate_size = 14336,
     .num_layers = 32,
     .num_heads = 32,
     .num_kv_heads = 8,
     .head_dim = 128,
     .vocab_size = 128256,
     .tie_word_embeddings = false,
     .rope_theta = 500000},
}};

constexpr std::int64_t kBytesAsTokens = 256;
constexpr std::int64_t kMaxLayers = 4094;     // record::Tag stores the layer in 12 bits
constexpr std::int64_t kHeadDimMultiple = 8;  // required by the CUDA attention kernels
constexpr std::int64_t kMaxHeadDim = 256;

record::Error refused(std::string sentence) {
  return {.message = std::move(sentence), .kind = record::ErrorKind::kRefused};
}

}  // namespace

std::span<const Config> published_configs() { return kPublished; }

const Config* find_config(std::string_view id) { return record::find_in(kPublished, id, &Config::id); }

record::Status check(const Config& config) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  for (const ConfigLength& length : kConfigLengths)
    if (config.*length.value < 1 && length.value != &Config::vocab_size)
      return refused("A model needs at least one of each: layer, head, and unit of width.");
  if (config.num_layers > kMaxLayers)
    return refused("num_layers=" + text(config.num_layers) + " is more than " + text(kMaxLayers) +
                   ", the most that a recording can store.");
  if (config.num_heads % config.num_kv_heads != 0)
    return refused("num_heads=" + text(config.num_heads) + " is not a multiple of num_kv_heads=" +
                   text(config.num_kv_heads) + ": each key/value head must serve the same number of query heads.");
  if (config.head_dim % kHeadDimMultiple != 0 || config.head_dim > kMaxHeadDim)
    return refused("head_dim=" + text(config.head_dim) + " does not suit the attention kernels; use a multiple of " +
                   text(kHeadDimMultiple) + " up to " + text(kMaxHeadDim) + ".");
  if (config.vocab_size < kBytesAsTokens)
    return refused("vocab_size=" + text(config.vocab_size) + " is too small: each byte is a token, so it must be " +
                   text(kBytesAsTokens) + " or more.");
  return record::Ok{};
}

std::int64_t num_parameters(const Config& config) { return num_parameters(config, Extension()); }

std::vector<WeightShape> weight_shapes(const Config& config) {
  const std::int64_t h = config.hidden_size;
  std::vector<WeightShape> all{{"model.embed_tokens.weight", {config.vocab_size, h}}};
  const std::vector<LayerWeight> layer = layer_weights(config);
  for (std::int64_t i = 0; i < config.num_layers; ++i)
    for (const LayerWeight& weight : layer) {
      all.push_back({"model.layers." + std::to_string(i) + "." + weight.name(), {weight.rows}});
      if (weight.kind == WeightKind::kMatrix) all.back().shape.push_back(weight.columns);
    }
  all.push_back({"model.norm.weight", {h}});
  if (!config.tie_word_embeddings) all.push_back({"lm_head.weight", {config.vocab_size, h}});
  return all;
}

}  // namespace headroom::llama
