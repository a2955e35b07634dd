// Merges neighbors in a linked list, ordered by a heap.
#include "demos/tokens/byte_pairs.h"

#include <queue>
#include <tuple>

namespace headroom::tokens {

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::uint64_t key_of(TokenId left, TokenId right) { return std::uint64_t{left} << 32 | right; }

struct Symbol {
  TokenId id = 0;
  std::size_t previous = kNone, next = kNone;
  bool gone = false;  // merged into its predecessor
};

struct Candidate {
  std::uint32_t rank;
  std::size_t left;
  TokenId left_id, right_id;  // compared later: neighbors may change

  bool operator<(const Candidate& other) const {  // reversed for a max-heap
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

}  // namespace

std::size_t BytePairs::Spread::operator()(std::uint64_t pair) const {
  return static_cast<std::size_t>((pair ^ (pair >> 29)) * 0x9e3779b97f4a7c15u >> 7);
}

void BytePairs::add(TokenId left, TokenId right, std::uint32_t rank, TokenId merged) {
  rules_.insert_or_assign(key_of(left, right), Rule{rank, merged});
}

const BytePairs::Rule* BytePairs::rule(TokenId left, TokenId right) const {
  const auto found = rules_.find(key_of(left, right));
  return found == rules_.end() ? nullptr : &found->second;
}

void BytePairs::encode(std::string_view word, std::vector<TokenId>& tokens) const {
  std::vector<Symbol> symbols(word.size());
  for (std::size_t i = 0; i < symbols.size(); ++i)
    symbols[i] = {.id = bytes[static_cast<unsigned char>(word[i])],
                  .previous = i == 0 ? kNone : i - 1,
                  .next = i + 1 == symbols.size() ? kNone : i + 1};
  std::priority_queue<Candidate> queue;
  const auto offer = [&](std::size_t left) {
    if (left == kNone || symbols[left].next == kNone) return;
    const TokenId left_id = symbols[left].id, right_id = symbols[symbols[left].next].id;
    if (const Rule* const found = rule(left_id, right_id)) queue.push({found->rank, left, left_id, right_id});
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[best.left];
    if (left.gone || left.next == kNone || left.id != best.left_id || symbols[left.next].id != best.right_id) continue;
    Symbol& right = symbols[left.next];
    left.id = rule(best.left_id, best.right_id)->merged;
    left.next = right.next;
    right.gone = true;
    if (right.next != kNone) symbols[right.next].previous = best.left;
    offer(left.previous);
    offer(best.left);
  }
  for (const Symbol& symbol : symbols)
    if (!symbol.gone) tokens.push_back(symbol.id);
}

}  // namespace headroom::tokens
