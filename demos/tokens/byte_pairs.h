// Byte-pair encoding of one word (Sennrich et al. 2016, arXiv:1508.07909).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headroom::tokens {

using TokenId = std::uint32_t;

class BytePairs {
 public:
  std::array<TokenId, 256> bytes{};  // tokens of single bytes

  // Lower ranks merge first. A later rule for a pair replaces an earlier one.
  void add(TokenId left, TokenId right, std::uint32_t rank, TokenId merged);
  // Appends the word's tokens. Merges the leftmost pair of the lowest rank first, in O(n log n) for n bytes.
  void encode(std::string_view word, std::vector<TokenId>& tokens) const;

 private:
  struct Rule {
    std::uint32_t rank;
    TokenId merged;
  };
  struct Spread {
    std::size_t operator()(std::uint64_t pair) const;
  };
  const Rule* rule(TokenId left, TokenId right) const;

  std::unordered_map<std::uint64_t, Rule, Spread> rules_;
};

}  // namespace headroom::tokens
