// Fixtures that make_fixtures.py wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/tokens/tokenizer.h"
#include "tests/support/catch.h"

namespace headroom::tests {

inline const std::filesystem::path kTokenFixtures = HEADROOM_SOURCE_DIR "/tests/tokens/fixtures";

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline const nlohmann::json& expected_tokens() {
  static const nlohmann::json all = nlohmann::json::parse(content_of(kTokenFixtures / "expected.json"));
  return all;
}

// 64-bit FNV-1a.
inline std::uint64_t fnv(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

inline std::string hash_of(const std::vector<tokens::TokenId>& ids) {
  return fmt::format("{:016x}", fnv({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof ids[0]}));
}

}  // namespace headroom::tests
