// Byte-level BPE by a tokenizer.json, as in Llama 3, Qwen 2 and GPT-2, with the ids of Hugging Face's `tokenizers`.
// Adds no special tokens around a text, whatever the file says.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "demos/record/result.h"
#include "demos/tokens/added_tokens.h"
#include "demos/tokens/byte_pairs.h"
#include "demos/tokens/pattern.h"

namespace headroom::tokens {

// A step of the pre-tokenizer: cuts at the pattern's matches.
struct Cut {
  Pattern pattern;
  bool matches = true, rest = true;  // whether matches, and the text between them, stay
};

struct TokenizerParts {
  bool normal_form_c = false;
  AddedTokens added, added_normalized;  // matched before and after normalization
  std::vector<Cut> cuts;
  bool space_before = false;                       // adds a leading space (`add_prefix_space`) …
  std::size_t spaced_from = 0;                     // … before this cut, or after the last one
  bool words_whole = false;                        // keeps words of the vocabulary whole (`ignore_merges`)
  std::unordered_map<std::string, TokenId> words;  // vocabulary as bytes, for words_whole
  BytePairs pairs;
  TokenId largest = 0;
};

// Refuses damaged files and other kinds of tokenizers.
record::Result<TokenizerParts> read_tokenizer(const std::filesystem::path& file);

// Encodes valid UTF-8. Returns early, with fewer ids, once `cancel` (may be null) is set.
std::vector<TokenId> encode(const TokenizerParts& tokenizer, std::string_view text,
                            const std::atomic<bool>* cancel = nullptr);

}  // namespace headroom::tokens
