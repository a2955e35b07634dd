// Training data: ids, a tokenized text, or its bytes.
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
  std::filesystem::path file;         // .npy, .bin or UTF-8 text
  std::filesystem::path tokenizer;    // tokenizer.json of a text; empty: bytes are tokens
  std::int64_t vocabulary = 256;      // the model's size; ids must be below it
  std::string data_type{kAnyIdType};  // a name in kIdTypes

  // "ids of a.bin (uint16, by llm.c's header)"
  std::string words(std::span<const std::byte> bytes) const;
};

// Returns the same errors as read(), but tokenizes no text.
record::Status check(const DataSource& source);

class TokenData {
 public:
  TokenData() = default;  // for plans: one token, 0

  // Refuses unreadable, empty and non-UTF-8 files, ids beyond the vocabulary, and tokenizers of another kind or with
  // a larger vocabulary. Fails early once `cancel` (may be null) is set.
  static record::Result<TokenData> read(const DataSource& source, const std::atomic<bool>* cancel);

  TokenView view() const;

 private:
  std::optional<MappedFile> file_;  // owns the bytes of in_file_
  std::optional<TokenView> in_file_;
  std::vector<TokenId> made_{0};  // tokenizer output
};

}  // namespace headroom::tokens
