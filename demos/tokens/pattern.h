// Regular expressions of a tokenizer.json, matched by PCRE2.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "demos/record/result.h"

namespace headroom::tokens {

class Pattern {
 public:
  // `expression` has Oniguruma's syntax, as in Hugging Face's library. Refuses what PCRE2 interprets differently, and
  // patterns that match the empty string; the error continues "its pattern ".
  static record::Result<Pattern> of_expression(std::string_view expression);
  static record::Result<Pattern> of_literal(std::string_view text);
  // Matches Unicode's word characters.
  static Pattern of_word_character();

  struct Match {
    std::size_t begin = 0, end = 0;
  };
  // First match from `from` on, in valid UTF-8. Not thread-safe. Throws std::runtime_error if the search exceeds
  // PCRE2's limits on memory and time.
  std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  struct Compiled;
  struct Release {
    void operator()(Compiled* compiled) const;
  };
  using Handle = std::unique_ptr<Compiled, Release>;
  explicit Pattern(Handle compiled) : compiled_(std::move(compiled)) {}
  static record::Result<Pattern> compile(const std::string& expression, unsigned options);

  Handle compiled_;
};

}  // namespace headroom::tokens
