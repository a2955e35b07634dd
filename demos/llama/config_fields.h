// Typed access to the values of a config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "demos/llama/config.h"

namespace headroom::llama {

// Remembers the first missing or unsuitable value. Null counts as absent.
class ConfigFields {
 public:
  // `reader` is named in messages: "the closed form".
  ConfigFields(const nlohmann::json& object, std::string reader) : object_(object), reader_(std::move(reader)) {}

  std::int64_t whole(const char* key, std::optional<std::int64_t> otherwise = std::nullopt);
  double real(const char* key, std::optional<double> otherwise = std::nullopt);
  bool flag(const char* key, bool otherwise);
  std::string text(const char* key, const char* otherwise);
  const nlohmann::json* find(const char* key) const;
  // `suits`: acceptable values.
  void wrong(const char* key, const std::string& suits);
  template <class T>
  void must_be(const char* key, const T& value, const T& suits, const char* what) {
    if (value != suits) wrong(key, what);
  }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  const nlohmann::json& object_;
  std::string reader_, first_wrong_;
};

// Properties of a model type that are not in config.json.
struct ModelType {
  std::string_view name;
  bool may_have_bias = false;  // attention_bias adds biases to q, k, v and o
  bool qkv_bias = false;
  bool qk_norm = false;
  bool window_by_number = false;         // sliding_window alone turns the window on
  bool tied = false;                     // default of tie_word_embeddings
  std::optional<std::int64_t> head_dim;  // default; nullopt: hidden_size / num_attention_heads
};

// Lengths, biases and norms, without RoPE.
Config read_shape(ConfigFields& fields, const ModelType& type);

// Newer files use rope_parameters, which includes rope_theta.
const char* rope_key(const ConfigFields& fields);

}  // namespace headroom::llama
