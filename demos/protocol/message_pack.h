// MessagePack from a stranger, made safe to read: limits are checked while it is scanned, before any tree is built.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "demos/record/result.h"

namespace headroom::protocol {

// A frame of 16 MiB could hold 16 million one-byte values, which as a tree take half a gigabyte. The largest honest
// message (a Hello with its facts) has some tens.
inline constexpr std::size_t kMaxValues = 100'000;

// The tree of a whole MessagePack value: at most kMaxDepth deep, kMaxValues values, all text UTF-8, nothing behind it.
record::Result<nlohmann::json> parse_message_pack(std::span<const std::byte> bytes);

}  // namespace headroom::protocol
