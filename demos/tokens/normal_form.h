// Unicode's normal form C: letters and their accents as one character where there is one (Unicode Standard Annex 15).
#pragma once

#include <string>
#include <string_view>

namespace headroom::tokens {

// Characters that normalization leaves alone, wherever they are: most texts are of these only.
bool surely_composed(std::string_view text);

// The text, which is valid UTF-8, in normal form C by the tables of Unicode 9, as Hugging Face's library has them.
std::string composed(std::string_view text);

}  // namespace headroom::tokens
