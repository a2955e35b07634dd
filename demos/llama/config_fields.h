// Values out of a config.json: for the shape that the step runs, and for what only the closed form understands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "demos/llama/config.h"

namespace headroom::llama {

// Takes values out of config.json and remembers what is wrong with the first that is missing or does not suit. A key
// with null counts as absent.
class ConfigFields {
 public:
  // `reader`: what a value has to suit, "the closed form".
  ConfigFields(const nlohmann::json& object, std::string reader) : object_(object), reader_(std::move(reader)) {}

  std::int64_t whole(const char* key, std::optional<std::int64_t> otherwise = std::nullopt);
  double real(const char* key, std::optional<double> otherwise = std::nullopt);
  bool flag(const char* key, bool otherwise);
  std::string text(const char* key, const char* otherwise);
  const nlohmann::json* find(const char* key) const;
  // `suits`: what would do in its place.
  void wrong(const char* key, const std::string& suits);
  // The value has to be that of a model which is computed here.
  template <class T>
  void must_be(const char* key, const T& value, const T& suits, const char* what) {
    if (value != suits) wrong(key, what);
  }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  const nlohmann::json& object_;
  std::string reader_, first_wrong_;
};

// What a model type has that config.json does not say.
struct ModelType {
  std::string_view name;
  bool may_have_bias = false;  // attention_bias: of q, k, v and o
  bool qkv_bias = false;       // always
  bool qk_norm = false;
  bool window_by_number = false;         // sliding_window alone means that it is used
  bool tied = false;                     // of a file that does not say it
  std::optional<std::int64_t> head_dim;  // nothing: hidden_size / num_attention_heads
};

// Lengths, biases and norms; not how positions are turned.
Config read_shape(ConfigFields& fields, const ModelType& type);

// rope_parameters in newer files, which holds rope_theta as well, else rope_scaling.
const char* rope_key(const ConfigFields& fields);

}  // namespace headroom::llama
