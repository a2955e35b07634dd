// Unicode's normal form C: letters composed with their accents (Unicode Standard Annex 15).
#pragma once

#include <string>
#include <string_view>

namespace headroom::tokens {

// True if normalization cannot change any of the characters, as in most texts.
bool surely_composed(std::string_view text);

// Normalizes valid UTF-8 by the tables of Unicode 9, like Hugging Face's library.
std::string composed(std::string_view text);

}  // namespace headroom::tokens
