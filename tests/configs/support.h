// Reads configurations from texts.
#pragma once

#include <map>
#include <set>
#include <string>

#include "demos/configs/config.h"
#include "demos/configs/formats.h"
#include "tests/support/catch.h"

namespace headroom::tests {

inline record::Result<configs::Config> try_config(const std::string& text, const std::string& file = "ds.json") {
  const auto document = configs::parse_document(text, file);
  if (!document) return document.error();
  return configs::meaning_of(document.value(), file);
}

inline configs::Config config_of(const std::string& text, const std::string& file = "ds.json") {
  auto config = try_config(text, file);
  if (!config) FAIL(config.error().message);
  return std::move(config).value();
}

inline std::string refusal_of(const std::string& text, const std::string& file = "ds.json") {
  const auto config = try_config(text, file);
  return config.ok() ? "" : config.error().message;
}

inline std::map<std::string, std::string> settings_in(const configs::Config& config) {
  std::map<std::string, std::string> settings;
  for (const configs::Setting& setting : config.settings) settings[setting.key] = setting.value;
  return settings;
}

inline std::set<std::string> paths_with(const configs::Config& config, configs::Fate fate) {
  std::set<std::string> paths;
  for (const configs::Key* key : config.with(fate)) paths.insert(key->path);
  return paths;
}

}  // namespace headroom::tests
