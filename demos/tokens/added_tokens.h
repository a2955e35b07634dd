// Tokens such as "<|eot_id|>", matched in the text before anything else.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "demos/tokens/byte_pairs.h"

namespace headroom::tokens {

struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool single_word = false;  // never matched inside a word
  bool lstrip = false;       // includes white space before it
  bool rstrip = false;       // includes white space after it
  bool normalized = false;   // matched in the normalized text
};

class AddedTokens {
 public:
  void add(AddedToken token);
  bool empty() const { return tokens_.empty(); }

  // Calls `token` for added tokens and `between` for the text between them, in order. The longest token at a place
  // wins.
  void split(std::string_view text, const std::function<void(std::string_view)>& between,
             const std::function<void(TokenId)>& token) const;

 private:
  const AddedToken* longest_at(std::string_view text, std::size_t at) const;

  struct Node {
    std::map<unsigned char, std::size_t> next;
    std::size_t token = 0;  // index + 1; 0: none
  };
  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_{1};
  std::array<bool, 256> first_{};
};

}  // namespace headroom::tokens
