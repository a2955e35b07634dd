// Text to the ids that Hugging Face's `tokenizers` gives it: byte-level BPE by a tokenizer.json, as Llama 3, Qwen 2 and
// GPT-2 have. Nothing is added around a text: no token of its begin, and what the file says of that is not read.
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

// One step of the pre-tokenizer: a text is cut where the pattern matches.
struct Cut {
  Pattern pattern;
  bool matches = true, rest = true;  // which of the two stays
};

// What a tokenizer.json says.
struct TokenizerParts {
  bool normal_form_c = false;
  AddedTokens added, added_normalized;  // searched in the text as it is; as it is normalized
  std::vector<Cut> cuts;
  bool space_before = false;                       // pieces get one if they have none (`add_prefix_space`) …
  std::size_t spaced_from = 0;                     // … before this cut, or before they are words
  bool words_whole = false;                        // a word of the vocabulary is not merged (`ignore_merges`)
  std::unordered_map<std::string, TokenId> words;  // the vocabulary, as bytes; read with words_whole only
  BytePairs pairs;
  TokenId largest = 0;  // of all ids
};

// Refused with a sentence: a file that is damaged, and tokenizers of another kind, by its name.
record::Result<TokenizerParts> read_tokenizer(const std::filesystem::path& file);

// The ids of a text, which is valid UTF-8. Stops early, with fewer ids, once `cancel` is set; it may be null.
std::vector<TokenId> encode(const TokenizerParts& tokenizer, std::string_view text,
                            const std::atomic<bool>* cancel = nullptr);

}  // namespace headroom::tokens
