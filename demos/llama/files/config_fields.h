// Typed access to the values of a config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace headroom::llama {

// Remembers the first missing or unsuitable value. Null counts as absent.
class ConfigFields {
 public:
  // Messages name `reader`, such as "the closed form".
  ConfigFields(const nlohmann::json& object, std::string reader) : object_(object), reader_(std::move(reader)) {}

  std::int64_t whole(const char* key, std::optional<std::int64_t> otherwise = std::nullopt);
  double real(const char* key, std::optional<double> otherwise = std::nullopt);
  bool flag(const char* key, bool otherwise);
  std::string text(const char* key, const char* otherwise);
  const nlohmann::json* find(const char* key) const;
  // `suits`: describes acceptable values.
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

// RoPE's key: newer files use rope_parameters, which includes rope_theta.
const char* rope_key(const ConfigFields& fields);

}  // namespace headroom::llama
