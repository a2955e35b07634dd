// Files of other kinds that are given as text or ids.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace headroom::tokens {

// "a Parquet file", by its first bytes; empty: none that is known.
std::string_view foreign_kind(std::span<const std::byte> bytes);

}  // namespace headroom::tokens
