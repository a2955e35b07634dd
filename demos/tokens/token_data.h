// What a run trains on: the ids of a file, or a text by its tokenizer, or the text's bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/record/result.h"
#include "demos/tokens/byte_pairs.h"
#include "demos/tokens/id_file.h"
#include "demos/tokens/mapped_file.h"
#include "demos/tokens/token_view.h"

namespace headroom::tokens {

struct DataSource {
  std::filesystem::path file;         // .npy, .bin, else UTF-8 text
  std::filesystem::path tokenizer;    // the tokenizer.json for a text; empty: its bytes are the tokens
  std::int64_t vocabulary = 256;      // the model's; all ids are below
  std::string data_type{kAnyIdType};  // of ids, by its name in kIdTypes

  // What the tokens of the file with these bytes are: "bytes of a.txt", "ids of a.bin (uint16, by llm.c's header)",
  // "tokenizer.json of FOLDER".
  std::string words(std::span<const std::byte> bytes) const;
};

// All that reading would refuse, but for a text without tokenizing it.
record::Status check(const DataSource& source);

class TokenData {
 public:
  TokenData() = default;  // of a plan, which computes nothing: one token, 0

  // Refused with a sentence: a file that cannot be read, is empty or no UTF-8, ids beyond the vocabulary, a tokenizer of
  // another kind or of a larger vocabulary. Ends early, with an error, once `cancel` is set; it may be null.
  static record::Result<TokenData> read(const DataSource& source, const std::atomic<bool>* cancel);

  TokenView view() const;

 private:
  std::optional<MappedFile> file_;  // what the view of ids or bytes refers to
  std::optional<TokenView> in_file_;
  std::vector<TokenId> made_{0};  // by a tokenizer
};

}  // namespace headroom::tokens
