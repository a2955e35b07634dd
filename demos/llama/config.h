// The shape of a Llama or of a relative with other biases and norms.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"

namespace headroom::llama {

// Llama 3.1's scaling of low RoPE frequencies (Llama 3 herd of models, arXiv:2407.21783 §3.4.2; constants from the
// published configs). Wavelengths above original_length / low_frequency_factor are multiplied by `factor`, those
// below original_length / high_frequency_factor are kept, and those between are blended.
struct RopeScaling {
  double factor = 32;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  double original_length = 8192;
};

struct Config {
  std::string_view id;                 // "llama-3.2-1b"
  std::int64_t hidden_size = 0;        // H
  std::int64_t intermediate_size = 0;  // F
  std::int64_t num_layers = 0;         // L
  std::int64_t num_heads = 0;          // A
  std::int64_t num_kv_heads = 0;       // K; A / K query heads share one
  std::int64_t head_dim = 0;           // D
  std::int64_t vocab_size = 0;         // V
  bool tie_word_embeddings = true;     // the head's weight is the embedding table
  double rope_theta = 500000;
  std::optional<RopeScaling> rope_scaling;
  double rms_norm_eps = 1e-5;
  bool qkv_bias = false;  // biases of q, k and v (Qwen2)
  bool o_bias = false;    // bias of attention's output
  bool qk_norm = false;   // RMSNorm over each head of queries and keys, before RoPE (Qwen3)
};

// `key` is the length's key in our settings, `in_file` its key in a config.json.
struct ConfigLength {
  std::string_view key, in_file;
  std::int64_t Config::*value;
};
inline constexpr std::array kConfigLengths{
    ConfigLength{"hidden_size", "hidden_size", &Config::hidden_size},
    ConfigLength{"intermediate_size", "intermediate_size", &Config::intermediate_size},
    ConfigLength{"num_layers", "num_hidden_layers", &Config::num_layers},
    ConfigLength{"num_heads", "num_attention_heads", &Config::num_heads},
    ConfigLength{"num_kv_heads", "num_key_value_heads", &Config::num_kv_heads},
    ConfigLength{"head_dim", "head_dim", &Config::head_dim},
    ConfigLength{"vocab_size", "vocab_size", &Config::vocab_size},
};

// A part that only some families have.
struct ConfigPart {
  std::string_view key, words;
  bool Config::*there;
};
inline constexpr std::array kConfigParts{
    ConfigPart{"qkv_bias", "biases of q, k and v", &Config::qkv_bias},
    ConfigPart{"o_bias", "biases of o", &Config::o_bias},
    ConfigPart{"qk_norm", "norms of q and k", &Config::qk_norm},
};

std::span<const Config> published_configs();
const Config* find_config(std::string_view id);

record::Status check(const Config& config);

// Llama 3.2 1B: V·H + L·(2·A·D·H + 2·K·D·H + 3·H·F + 2·H) + H = 1,235,814,400 (tied). Per layer, qkv_bias adds A·D +
// 2·K·D, o_bias H, and qk_norm 2·D.
std::int64_t num_parameters(const Config& config);

// A weight's name in Hugging Face checkpoints and its shape, rows first.
struct WeightShape {
  std::string name;
  std::vector<std::int64_t> shape;
};
// In forward order, without a tied head.
std::vector<WeightShape> weight_shapes(const Config& config);

}  // namespace headroom::llama
