// Parses JSON.
#include "demos/record/file/json_fields.h"

namespace headroom::record {

bool nests_too_deep(std::string_view text) {
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

json to_object(const ByCategory& amounts) {
  json object = json::object();
  for (std::size_t i = 0; i < amounts.size(); ++i) object[std::string(key_of(static_cast<Category>(i)))] = amounts[i];
  return object;
}

std::optional<json> parse_object(std::string_view text) {
  if (nests_too_deep(text)) return std::nullopt;
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() ? std::optional<json>(std::move(value)) : std::nullopt;
}

}  // namespace headroom::record
