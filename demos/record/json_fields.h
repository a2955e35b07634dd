// JSON out and in for the text chunks of a recording: reading checks every type and range.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace headroom::record {

using nlohmann::json;

// Paths may hold bytes that are not UTF-8; they become the replacement character instead of an exception.
inline std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

// Checked before parsing, so that a million brackets cost nothing.
inline bool nests_too_deep(std::string_view text) {
  constexpr int kDeepest = 8;
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\')
      ++at;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '[') && ++depth > kDeepest)
      return true;
    else if (!in_string && (c == '}' || c == ']'))
      --depth;
  }
  return false;
}

inline std::optional<json> parse(std::string_view text) {
  if (nests_too_deep(text)) return std::nullopt;
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() ? std::optional<json>(std::move(value)) : std::nullopt;
}

// Takes named values out of one JSON object; ok() is false once one was missing or wrong.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) { ok_ = object.is_object(); }

  bool ok() const { return ok_; }

  const json* find(const char* key) {
    const auto found = ok_ ? object_.find(key) : object_.end();
    if (!ok_ || found == object_.end()) return missing();
    return &*found;
  }
  std::string text(const char* key) {
    const json* const value = find(key);
    if (value == nullptr || !value->is_string()) return missing(), "";
    return value->get<std::string>();
  }
  std::int64_t whole(const char* key, std::int64_t highest) {
    const json* const value = find(key);
    // Numbers that do not fit int64 are unsigned or real in this library.
    if (value == nullptr || !value->is_number_integer()) return missing(), 0;
    const bool fits = value->is_number_unsigned() ? value->get<std::uint64_t>() <= static_cast<std::uint64_t>(highest)
                                                  : value->get<std::int64_t>() >= 0;
    return fits ? value->get<std::int64_t>() : (missing(), 0);
  }
  double number(const char* key) {
    const json* const value = find(key);
    if (value == nullptr || !value->is_number()) return missing(), 0;
    return value->get<double>();
  }
  // The array of this name; null where it is none or has more than `most` items.
  const json* array(const char* key, std::size_t most) {
    const json* const value = find(key);
    if (value == nullptr || !value->is_array() || value->size() > most) return missing();
    return value;
  }
  // For what only the caller can check.
  void fail() { ok_ = false; }
  template <class Enum>
  Enum choice(const char* key, int count) {
    const std::string name = text(key);
    for (int i = 0; i < count; ++i)
      if (ok_ && key_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    return missing(), Enum{};
  }
  std::map<std::string, std::string> texts(const char* key) {
    const json* const value = find(key);
    if (value == nullptr || !value->is_object()) return missing(), std::map<std::string, std::string>{};
    std::map<std::string, std::string> map;
    for (const auto& [name, item] : value->items()) {
      if (!item.is_string()) return missing(), map;
      map.emplace(name, item.get<std::string>());
    }
    return map;
  }

 private:
  std::nullptr_t missing() {
    ok_ = false;
    return nullptr;
  }

  const json& object_;
  bool ok_ = true;
};

}  // namespace headroom::record
