// Recognizes files that contain neither ids nor text.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace headroom::tokens {

// The kind of file, by its first bytes: "a Parquet file"; empty if unknown.
std::string_view foreign_kind(std::span<const std::byte> bytes);

}  // namespace headroom::tokens
