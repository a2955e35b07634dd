// MessagePack from a stranger, made safe to read: limits are checked while it is scanned, before any tree is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"

namespace headroom::protocol {

// A frame of 16 MiB could hold 16 million one-byte values, which as a tree take half a gigabyte. The largest honest
// message (a Hello with its facts) has some tens.
inline constexpr std::size_t kMaxValues = 100'000;

// The tree of a whole MessagePack value: at most kMaxDepth deep, kMaxValues values, all text UTF-8, nothing behind it.
record::Result<nlohmann::json> parse_message_pack(std::span<const std::byte> bytes);

// The text itself, or where it is not UTF-8 a copy with '?' for every byte beyond ASCII.
std::string as_utf8(std::string_view text);

// Reads the fields of one map and remembers the first that is missing or wrong; from then on it returns defaults.
// `where` names the map in the reason ("chunk", "hello.devices[0]").
class Fields {
 public:
  Fields(const nlohmann::json& map, std::string where);

  bool ok() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }
  void refuse(std::string_view key, std::string_view what);  // "chunk: bytes is not binary"

  bool boolean(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t minimum = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t maximum = std::numeric_limits<std::int64_t>::max());
  std::uint64_t counter(std::string_view key);  // 0 … 2^64 − 1
  double real(std::string_view key, double minimum, double maximum);
  std::string text(std::string_view key);
  std::vector<std::byte> binary(std::string_view key);
  // Text to text. A value may be binary: a file's name need not be UTF-8.
  std::map<std::string, std::string> text_map(std::string_view key);
  // An array or a map; an empty one of that type when the field is wrong.
  const nlohmann::json& array(std::string_view key);
  const nlohmann::json& map(std::string_view key);
  bool has(std::string_view key) const;

 private:
  const nlohmann::json* find(std::string_view key);

  const nlohmann::json* map_;
  std::string where_;
  std::string reason_;
};

}  // namespace headroom::protocol
