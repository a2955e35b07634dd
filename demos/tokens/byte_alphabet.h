// How byte-level vocabularies write bytes: each as one printable character (GPT-2's `bytes_to_unicode`).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom::tokens {

// "Ġthe" is " the". Nothing where a character is of no byte.
std::optional<std::string> bytes_of(std::string_view token);

}  // namespace headroom::tokens
