// Translates from Oniguruma's syntax to PCRE2's.
#include "demos/tokens/pattern.h"

#include <array>
#include <cctype>
#include <cstdint>
#include <stdexcept>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <fmt/format.h>

namespace headroom::tokens {

namespace {

using record::Error;

// True for general categories, which both libraries share. PCRE2's scripts also include script extensions.
bool is_category(std::string_view name) {
  return (name.size() == 1 || name.size() == 2) && std::string_view("LMNPSZC").find(name[0]) != std::string_view::npos;
}

// Letters and numbers of Unicode 15 and 16, missing in PCRE2 10.42 but not in Hugging Face's library.
constexpr std::string_view kYoungLetters =
    R"(\x{1c89}-\x{1c8a}\x{a7cb}-\x{a7cd}\x{a7da}-\x{a7dc}\x{105c0}-\x{105f3}\x{10d4a}-\x{10d65}\x{10d6f}-\x{10d85})"
    R"(\x{10ec2}-\x{10ec4}\x{1123f}-\x{11240}\x{11380}-\x{11389}\x{1138b}\x{1138e}\x{11390}-\x{113b5}\x{113b7})"
    R"(\x{113d1}\x{113d3}\x{11bc0}-\x{11be0}\x{11f02}\x{11f04}-\x{11f10}\x{11f12}-\x{11f33}\x{1342f})"
    R"(\x{13441}-\x{13446}\x{13460}-\x{143fa}\x{16100}-\x{1611d}\x{16d40}-\x{16d6c}\x{18cff}\x{1b132}\x{1b155})"
    R"(\x{1df25}-\x{1df2a}\x{1e030}-\x{1e06d}\x{1e4d0}-\x{1e4eb}\x{1e5d0}-\x{1e5ed}\x{1e5f0}\x{2b739})"
    R"(\x{2ebf0}-\x{2ee5d}\x{31350}-\x{323af})";
constexpr std::string_view kYoungNumbers =
    R"(\x{10d40}-\x{10d49}\x{116d0}-\x{116e3}\x{11bf0}-\x{11bf9}\x{11f50}-\x{11f59}\x{16130}-\x{16139})"
    R"(\x{16d70}-\x{16d79}\x{1ccf0}-\x{1ccf9}\x{1d2c0}-\x{1d2d3}\x{1e4f0}-\x{1e4f9}\x{1e5f1}-\x{1e5fa})";

class Translation {
 public:
  explicit Translation(std::string_view from) : from_(from) {}

  record::Result<std::string> run() {
    while (at_ < from_.size())
      if (const std::string wrong = take(); !wrong.empty()) return Error{wrong};
    return std::move(to_);
  }

 private:
  // Translates one construct. Returns an error if the libraries differ; otherwise returns an empty string.
  std::string take() {
    const char c = from_[at_];
    if (c == '\\') return escape();
    if (in_class_ && (c == '[' || from_.substr(at_).starts_with("&&"))) return "has a set inside a set";
    if (!in_class_ && from_.substr(at_).starts_with("}+")) return "has {…}+";  // possessive in only one library
    if (c == '[') {
      in_class_ = true;
      if (from_.substr(at_ + 1).starts_with("]") || from_.substr(at_ + 1).starts_with("^]")) return "has a set with ]";
    } else if (c == ']') {
      in_class_ = false;
    }
    to_ += c;
    ++at_;
    return {};
  }

  std::string escape() {
    const char c = at_ + 1 < from_.size() ? from_[at_ + 1] : '\0';
    if (c == 'p' || c == 'P') return property(c);
    // PCRE2's \s also matches U+180E.
    if (c == 's')
      to_ += "\\p{White_Space}";
    else if (c == 'S')
      to_ += "\\P{White_Space}";
    else if (c != '\0' && (std::string_view("rntdD").find(c) != std::string_view::npos ||
                           std::ispunct(static_cast<unsigned char>(c)) != 0))
      to_ += {'\\', c};
    else
      return fmt::format("has \\{}", c);
    at_ += 2;
    return {};
  }

  std::string property(char which) {
    const std::size_t end = from_.find('}', at_);
    if (end == std::string_view::npos || from_[at_ + 2] != '{' || !is_category(from_.substr(at_ + 3, end - at_ - 3)))
      return fmt::format("has {}", from_.substr(at_, end == std::string_view::npos ? end : end - at_ + 1));
    const std::string_view name = from_.substr(at_ + 2, end - at_ - 1);
    const bool young = which == 'p' && (name == "{L}" || name == "{N}");
    const std::string set = fmt::format("\\{}{}{}", which, name,
                                        !young          ? ""
                                        : name == "{L}" ? kYoungLetters
                                                        : kYoungNumbers);
    to_ += young && !in_class_ ? "[" + set + "]" : set;
    at_ = end + 1;
    return {};
  }

  std::string_view from_;
  std::string to_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

struct Pattern::Compiled {
  pcre2_code* code = nullptr;
  pcre2_match_data* found = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;
};

void Pattern::Release::operator()(Compiled* compiled) const {
  pcre2_match_data_free(compiled->found);
  pcre2_match_context_free(compiled->context);
  pcre2_jit_stack_free(compiled->stack);
  pcre2_code_free(compiled->code);
  delete compiled;
}

record::Result<Pattern> Pattern::of_expression(std::string_view expression) {
  record::Result<std::string> translated = Translation(expression).run();
  if (!translated) return translated.error();
  // In Oniguruma ^ and $ match at line breaks.
  return compile(translated.value(), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE);
}

record::Result<Pattern> Pattern::of_literal(std::string_view text) {
  return compile(std::string(text), PCRE2_UTF | PCRE2_LITERAL);
}

Pattern Pattern::of_word_character() {
  return compile("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]", PCRE2_UTF | PCRE2_UCP).value();
}

record::Result<Pattern> Pattern::compile(const std::string& expression, unsigned options) {
  int error = 0;
  PCRE2_SIZE where = 0;
  Handle compiled(new Compiled);
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), options, &error,
                                 &where, nullptr);
  if (compiled->code == nullptr) {
    std::array<unsigned char, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    return Error{fmt::format("does not compile ({})", reinterpret_cast<const char*>(words.data()))};
  }
  std::uint32_t matches_nothing = 0;
  pcre2_pattern_info(compiled->code, PCRE2_INFO_MATCHEMPTY, &matches_nothing);
  if (matches_nothing != 0) return Error{"can match the empty string"};
  constexpr std::size_t kFirstStack = std::size_t{32} << 10, kLargestStack = std::size_t{16} << 20;
  constexpr std::uint32_t kMostSteps = 4'000'000'000;  // per search; long runs of white space exceed the default
  compiled->found = pcre2_match_data_create(1, nullptr);
  compiled->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(compiled->context, kMostSteps);
  if (pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE) == 0) {  // otherwise PCRE2 interprets
    compiled->stack = pcre2_jit_stack_create(kFirstStack, kLargestStack, nullptr);
    pcre2_jit_stack_assign(compiled->context, nullptr, compiled->stack);
  }
  return Pattern(std::move(compiled));
}

std::optional<Pattern::Match> Pattern::find(std::string_view text, std::size_t from) const {
  // An empty view may have a null pointer.
  const char* const first = text.empty() ? "" : text.data();
  const int count = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(first), text.size(), from,
                                PCRE2_NO_UTF_CHECK, compiled_->found, compiled_->context);
  if (count == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (count < 0) throw std::runtime_error(fmt::format("PCRE2 failed on the text with error {}.", count));
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(compiled_->found);
  return Match{ends[0], ends[1]};
}

}  // namespace headroom::tokens
