// Looks for numbers among a checkpoint's bytes that no run can train from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "demos/llama/safetensors.h"

namespace headroom::llama {

// The first number that is a NaN or an infinity, or would become one in the type `as`; nothing: there is none. About as
// fast as memory. Whole numbers are always finite.
std::optional<std::size_t> first_not_finite(std::span<const std::byte> values, StoredType stored, StoredType as);

// "a NaN", "an infinity", or "70000, an infinity in F16": the number at this index.
std::string words_of_not_finite(std::span<const std::byte> values, std::size_t index, StoredType stored, StoredType as);

}  // namespace headroom::llama
