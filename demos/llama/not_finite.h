// Finds numbers in a checkpoint that no run can train from.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "demos/llama/files/safetensors.h"

namespace headroom::llama {

// Index of the first number that is NaN or infinite, or becomes so in type `as`. Runs about as fast as memory is read.
std::optional<std::size_t> first_not_finite(std::span<const std::byte> values, StoredType stored, StoredType as);

// "70000, an infinity in F16"
std::string words_of_not_finite(std::span<const std::byte> values, std::size_t index, StoredType stored, StoredType as);

}  // namespace headroom::llama
