// Walks a trie over the tokens' bytes.
#include "demos/tokens/added_tokens.h"

#include <utility>

#include "demos/tokens/pattern.h"
#include "demos/tokens/utf8.h"

namespace headroom::tokens {

namespace {

// Unicode's property White_Space.
bool is_space_at(std::string_view text, std::size_t at) {
  const char32_t c = next_character(text, at);
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word_at(std::string_view text, std::size_t at) {
  thread_local const Pattern kWord = Pattern::of_word_character();
  const std::size_t begin = at;
  next_character(text, at);
  return kWord.find(text.substr(begin, at - begin), 0).has_value();
}

std::size_t before(std::string_view text, std::size_t at) {
  do --at;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

bool inside_a_word(std::string_view text, std::size_t begin, std::size_t end) {
  return (begin > 0 && is_word_at(text, before(text, begin))) || (end < text.size() && is_word_at(text, end));
}

}  // namespace

void AddedTokens::add(AddedToken token) {
  if (token.content.empty()) return;
  std::size_t at = 0;
  for (const char c : token.content) {
    const auto [found, fresh] = nodes_[at].next.try_emplace(static_cast<unsigned char>(c), nodes_.size());
    at = found->second;
    if (fresh) nodes_.emplace_back();
  }
  first_[static_cast<unsigned char>(token.content.front())] = true;
  tokens_.push_back(std::move(token));
  nodes_[at].token = tokens_.size();
}

const AddedToken* AddedTokens::longest_at(std::string_view text, std::size_t at) const {
  const AddedToken* longest = nullptr;
  for (std::size_t node = 0; at < text.size(); ++at) {
    const auto next = nodes_[node].next.find(static_cast<unsigned char>(text[at]));
    if (next == nodes_[node].next.end()) break;
    node = next->second;
    if (nodes_[node].token != 0) longest = &tokens_[nodes_[node].token - 1];
  }
  return longest;
}

void AddedTokens::split(std::string_view text, const std::function<void(std::string_view)>& between,
                        const std::function<void(TokenId)>& token) const {
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const found = first_[static_cast<unsigned char>(text[at])] ? longest_at(text, at) : nullptr;
    if (found == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + found->content.size();
    at = end;  // even if the token is rejected
    if (found->single_word && inside_a_word(text, begin, end)) continue;
    while (found->lstrip && begin > done && is_space_at(text, before(text, begin))) begin = before(text, begin);
    while (found->rstrip && end < text.size() && is_space_at(text, end)) next_character(text, end);
    if (begin > done) between(text.substr(done, begin - done));
    token(found->id);
    done = end;
  }
  if (done < text.size()) between(text.substr(done));
}

}  // namespace headroom::tokens
