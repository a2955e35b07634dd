// Recognizes other files given as text or ids.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace headroom::tokens {

// "a Parquet file", by its first bytes; empty if unknown.
std::string_view foreign_kind(std::span<const std::byte> bytes);

}  // namespace headroom::tokens
