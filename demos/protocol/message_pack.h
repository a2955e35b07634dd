// Parses untrusted MessagePack: scans it for limits before building a tree.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "demos/record/result.h"

namespace headroom::protocol {

// A 16 MiB frame can hold 16 million one-byte values, whose tree takes 0.5 GB. The largest real message (Hello) has
// some tens.
inline constexpr std::size_t kMaxValues = 100'000;

// Refuses more than kMaxDepth levels or kMaxValues values, text that is not UTF-8, and trailing bytes.
record::Result<nlohmann::json> parse_message_pack(std::span<const std::byte> bytes);

}  // namespace headroom::protocol
