// Token ids in memory: bytes of a text, or numbers of 2, 4 or 8 bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace headroom::tokens {

// Does not own the ids. Treats them as unsigned, so the creator must check them.
class TokenView {
 public:
  TokenView(const void* first, std::size_t count, std::size_t width)
      : first_(static_cast<const unsigned char*>(first)), count_(count), width_(width) {}
  // Each byte is a token.
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view> TokenView(const Text& text)
      : TokenView(std::string_view(text).data(), std::string_view(text).size(), 1) {}

  std::size_t size() const { return count_; }
  TokenView part(std::size_t first, std::size_t count) const { return {first_ + first * width_, count, width_}; }
  std::int64_t operator[](std::size_t i) const {
    std::uint64_t id = 0;  // little-endian, like the files
    std::memcpy(&id, first_ + i * width_, width_);
    return static_cast<std::int64_t>(id);
  }

 private:
  const unsigned char* first_;
  std::size_t count_;
  std::size_t width_;  // bytes per id
};

}  // namespace headroom::tokens
