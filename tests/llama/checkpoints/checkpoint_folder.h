// Writes valid and broken checkpoints in Hugging Face's layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/llama/config.h"
#include "tests/support/temporary_folder.h"

namespace headroom::tests {

inline constexpr llama::Config kSmall{.id = "custom",
                                      .hidden_size = 16,
                                      .intermediate_size = 24,
                                      .num_layers = 2,
                                      .num_heads = 2,
                                      .num_kv_heads = 1,
                                      .head_dim = 8,
                                      .vocab_size = 256,
                                      .tie_word_embeddings = false,
                                      .rope_theta = 10000};

struct TensorBytes {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

inline std::string length_of(std::uint64_t length) { return {reinterpret_cast<const char*>(&length), sizeof length}; }

inline nlohmann::json header_of(const std::vector<TensorBytes>& tensors) {
  nlohmann::json header{{"__metadata__", {{"format", "pt"}}}};
  std::size_t end = 0;
  for (const TensorBytes& tensor : tensors) {
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {end, end + tensor.bytes.size()}}};
    end += tensor.bytes.size();
  }
  return header;
}

inline std::string safetensors(const std::string& header, const std::vector<TensorBytes>& tensors) {
  std::string file = length_of(header.size()) + header;
  for (const TensorBytes& tensor : tensors) file += tensor.bytes;
  return file;
}
inline std::string safetensors(const std::vector<TensorBytes>& tensors) {
  return safetensors(header_of(tensors).dump(), tensors);
}

inline nlohmann::json config_json(const llama::Config& c) {
  const char* const type = c.qk_norm ? "qwen3" : c.qkv_bias && !c.o_bias ? "qwen2" : "llama";
  nlohmann::json object{{"model_type", type},
                        {"hidden_act", "silu"},
                        {"hidden_size", c.hidden_size},
                        {"intermediate_size", c.intermediate_size},
                        {"num_hidden_layers", c.num_layers},
                        {"num_attention_heads", c.num_heads},
                        {"num_key_value_heads", c.num_kv_heads},
                        {"head_dim", c.head_dim},
                        {"vocab_size", c.vocab_size},
                        {"tie_word_embeddings", c.tie_word_embeddings},
                        {"rms_norm_eps", c.rms_norm_eps},
                        {"rope_theta", c.rope_theta},
                        {"rope_scaling", nullptr},
                        {"attention_bias", c.o_bias}};
  if (c.rope_scaling) {
    object["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", c.rope_scaling->factor},
                              {"low_freq_factor", c.rope_scaling->low_frequency_factor},
                              {"high_freq_factor", c.rope_scaling->high_frequency_factor},
                              {"original_max_position_embeddings", c.rope_scaling->original_length}};
  }
  return object;
}

inline void write_config(const std::filesystem::path& folder, const llama::Config& config) {
  write_bytes(folder / "config.json", config_json(config).dump());
}

}  // namespace headroom::tests
