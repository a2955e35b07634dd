// GPT-2's `bytes_to_unicode`: one printable character per byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom::tokens {

// "Ġthe" is " the". nullopt if a character is not in the alphabet.
std::optional<std::string> bytes_of(std::string_view token);

}  // namespace headroom::tokens
