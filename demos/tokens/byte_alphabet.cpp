// The inverse mapping.
#include "demos/tokens/byte_alphabet.h"

#include <array>

#include "demos/tokens/utf8.h"

namespace headroom::tokens {

namespace {

constexpr char32_t kOthers = 256;  // other bytes, in order, from here on

constexpr bool printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr auto kBytes = [] {
  std::array<int, kOthers + 256> bytes{};  // by character; -1: none
  for (int& byte : bytes) byte = -1;
  char32_t next = kOthers;
  for (int byte = 0; byte < 256; ++byte) bytes[printable(byte) ? static_cast<char32_t>(byte) : next++] = byte;
  return bytes;
}();

}  // namespace

std::optional<std::string> bytes_of(std::string_view token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const char32_t c = next_character(token, at);
    if (c >= kBytes.size() || kBytes[c] < 0) return std::nullopt;
    bytes += static_cast<char>(kBytes[c]);
  }
  return bytes;
}

}  // namespace headroom::tokens
