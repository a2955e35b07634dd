// Tokens that a tokenizer.json finds in the text itself, before any pattern or merge: "<|eot_id|>".
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
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // … and behind it
  bool normalized = false;   // is searched in the normalized text
};

class AddedTokens {
 public:
  void add(AddedToken token);
  bool empty() const { return tokens_.empty(); }

  // Calls one of the two for each stretch of the text, in order: what is between tokens, and the tokens. Where several
  // begin at one place the longest counts.
  void split(std::string_view text, const std::function<void(std::string_view)>& between,
             const std::function<void(TokenId)>& token) const;

 private:
  const AddedToken* longest_at(std::string_view text, std::size_t at) const;

  struct Node {
    std::map<unsigned char, std::size_t> next;
    std::size_t token = 0;  // its number, from 1 on
  };
  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_{1};
  std::array<bool, 256> first_{};
};

}  // namespace headroom::tokens
