// Regular expressions of a tokenizer.json, found in a text by PCRE2.
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
  // `expression` is written for Oniguruma, as Hugging Face's library reads it; a literal one is found as it is. Refused
  // with words that follow "its pattern ": what the two libraries read otherwise, and what can match nothing.
  static record::Result<Pattern> of_expression(std::string_view expression);
  static record::Result<Pattern> of_literal(std::string_view text);
  // A character that words are made of, by Unicode's definition.
  static Pattern of_word_character();

  struct Match {
    std::size_t begin = 0, end = 0;
  };
  // The first match from `from` on. The text is valid UTF-8. Not from two threads. Throws std::runtime_error where the
  // search takes more memory or time than PCRE2 may.
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
