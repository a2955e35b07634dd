// Reads values and describes errors.
#include "demos/llama/files/config_fields.h"

#include <fmt/format.h>

namespace headroom::llama {

using nlohmann::json;

std::int64_t ConfigFields::whole(const char* key, std::optional<std::int64_t> otherwise) {
  const json* const value = find(key);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr || !value->is_number_integer()) return wrong(key, "a whole number"), 0;
  return value->get<std::int64_t>();
}

double ConfigFields::real(const char* key, std::optional<double> otherwise) {
  const json* const value = find(key);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr || !value->is_number() || !(value->get<double>() > 0)) return wrong(key, "a number above 0"), 0;
  return value->get<double>();
}

bool ConfigFields::flag(const char* key, bool otherwise) {
  const json* const value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return wrong(key, "true or false"), false;
  return value->get<bool>();
}

std::string ConfigFields::text(const char* key, const char* otherwise) {
  const json* const value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) return wrong(key, "a word"), "";
  return value->get<std::string>();
}

const json* ConfigFields::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigFields::wrong(const char* key, const std::string& suits) {
  constexpr std::size_t kLongest = 100;
  if (!first_wrong_.empty()) return;
  const json* const value = find(key);
  std::string has = value == nullptr ? "nothing" : value->dump(-1, ' ', true, json::error_handler_t::replace);
  if (has.size() > kLongest) has = has.substr(0, kLongest) + "…";
  first_wrong_ = fmt::format("{} that {} supports: the file has {}, but it must be {}", key, reader_, has, suits);
}

const char* rope_key(const ConfigFields& fields) {
  return fields.find("rope_parameters") != nullptr ? "rope_parameters" : "rope_scaling";
}

}  // namespace headroom::llama
