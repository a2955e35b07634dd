// Encodes a text.
#include <deque>
#include <utility>

#include "demos/tokens/normal_form.h"
#include "demos/tokens/tokenizer.h"

namespace headroom::tokens {

namespace {

// Merges each word once, since words repeat.
class Words {
 public:
  Words(const TokenizerParts& tokenizer, std::vector<TokenId>& ids) : tokenizer_(tokenizer), ids_(ids) {}

  void add(std::string_view word) {
    if (word.size() > kLongest) return append(word, ids_);
    const auto [found, fresh] = known_.try_emplace(word);
    auto& [first, count] = found->second;
    if (fresh) {
      first = tokens_.size();
      append(word, tokens_);
      count = tokens_.size() - first;
    }
    ids_.insert(ids_.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                tokens_.begin() + static_cast<std::ptrdiff_t>(first + count));
    if (known_.size() < kMost) return;
    known_.clear();
    tokens_.clear();
  }

 private:
  static constexpr std::size_t kLongest = 256, kMost = 1 << 20;

  void append(std::string_view word, std::vector<TokenId>& to) const {
    if (tokenizer_.words_whole)
      if (const auto whole = tokenizer_.words.find(std::string(word)); whole != tokenizer_.words.end())
        return to.push_back(whole->second);
    tokenizer_.pairs.encode(word, to);
  }

  const TokenizerParts& tokenizer_;
  std::vector<TokenId>& ids_;
  std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>> known_;  // ranges of tokens in tokens_
  std::vector<TokenId> tokens_;
};

class Encoder {
 public:
  Encoder(const TokenizerParts& tokenizer, const std::atomic<bool>* cancel)
      : tokenizer_(tokenizer), cancel_(cancel), words_(tokenizer, ids_) {}

  std::vector<TokenId> run(std::string_view text) {
    split(tokenizer_.added, text, [this](std::string_view part) {
      if (tokenizer_.normal_form_c && !surely_composed(part)) part = kept_.emplace_back(composed(part));
      split(tokenizer_.added_normalized, part, [this](std::string_view piece) { cut(piece, 0); });
    });
    return std::move(ids_);
  }

 private:
  template <class Between>
  void split(const AddedTokens& added, std::string_view text, const Between& between) {
    if (added.empty()) return between(text);
    added.split(text, between, [this](TokenId id) { ids_.push_back(id); });
  }

  void cut(std::string_view piece, std::size_t step) {
    if (piece.empty() || (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed))) return;
    // The space is added before ByteLevel, the last step, applies its pattern.
    if (step == tokenizer_.spaced_from && tokenizer_.space_before && piece.front() != ' ')
      piece = kept_.emplace_back(" " + std::string(piece));
    if (step == tokenizer_.cuts.size()) return words_.add(piece);
    const Cut& by = tokenizer_.cuts[step];
    std::size_t done = 0;
    while (const auto match = by.pattern.find(piece, done)) {
      if (by.rest) cut(piece.substr(done, match->begin - done), step + 1);
      if (by.matches) cut(piece.substr(match->begin, match->end - match->begin), step + 1);
      done = match->end;
    }
    if (by.rest) cut(piece.substr(done), step + 1);
  }

  const TokenizerParts& tokenizer_;
  const std::atomic<bool>* cancel_;
  std::vector<TokenId> ids_;
  std::deque<std::string> kept_;  // pieces and known words that are not in the text
  Words words_;
};

}  // namespace

std::vector<TokenId> encode(const TokenizerParts& tokenizer, std::string_view text, const std::atomic<bool>* cancel) {
  return Encoder(tokenizer, cancel).run(text);
}

}  // namespace headroom::tokens
