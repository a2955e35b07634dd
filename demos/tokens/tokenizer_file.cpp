// Reads a tokenizer.json; refuses all but byte-level BPE.
#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "demos/record/file/json_fields.h"
#include "demos/record/text.h"
#include "demos/tokens/normal_form.h"
#include "demos/tokens/tokenizer.h"
#include "demos/tokens/utf8.h"

namespace headroom::tokens {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;
using record::Ok;
using record::Status;

constexpr std::uintmax_t kLongest = 200'000'000;

const json& field(const json& object, const char* name) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}
bool flag(const json& object, const char* name, bool otherwise) {
  const json& value = field(object, name);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}
std::string text(const json& object, const char* name) {
  const json& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}
std::optional<TokenId> id_in(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto id = value.get<std::int64_t>();
  return id >= 0 && id < std::int64_t{1} << 31 ? std::optional(static_cast<TokenId>(id)) : std::nullopt;
}

// --- GPT-2's `bytes_to_unicode`: one printable character per byte

constexpr char32_t kOthers = 256;  // the other bytes' characters begin here

constexpr bool is_shown(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr auto kBytes = [] {
  std::array<int, kOthers + 256> bytes{};  // by character; -1: none
  for (int& byte : bytes) byte = -1;
  char32_t next = kOthers;
  for (int byte = 0; byte < 256; ++byte) bytes[is_shown(byte) ? static_cast<char32_t>(byte) : next++] = byte;
  return bytes;
}();

// "Ġthe" is " the". nullopt if a character is not in the alphabet.
std::optional<std::string> bytes_of(std::string_view token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const char32_t c = next_character(token, at);
    if (c >= kBytes.size() || kBytes[c] < 0) return std::nullopt;
    bytes += static_cast<char>(kBytes[c]);
  }
  return bytes;
}

class Reader {
 public:
  Reader(fs::path file, const json& document) : file_(std::move(file)), document_(document) {}

  record::Result<TokenizerParts> run() {
    for (const auto part : {&Reader::model, &Reader::normalizer, &Reader::pre_tokenizer, &Reader::added})
      if (const Status read = (this->*part)(); !read) return read.error();
    return std::move(parts_);
  }

 private:
  Error another_kind(const std::string& what) const {
    return Error{
        fmt::format("{} {}, but only byte-level BPE is supported (Llama 3, Qwen 2, GPT-2); tokenize the text with its "
                    "own library, and pass the ids as a .npy file.",
                    file_.string(), what)};
  }
  Error damaged(const std::string& what) const {
    return Error{fmt::format("{} {}; download it again.", file_.string(), what)};
  }

  Status model() {
    const json& model = field(document_, "model");
    const std::string type = text(model, "type");
    if (type != "BPE" && !(type.empty() && model.contains("merges")))
      return another_kind(fmt::format("is a {} tokenizer", type.empty() ? "nameless" : record::printable(type)));
    if (flag(model, "byte_fallback", false)) return another_kind("is a SentencePiece BPE (byte_fallback)");
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!text(model, affix).empty()) return another_kind(fmt::format("marks words with {}", affix));
    if (field(model, "dropout").is_number()) return another_kind("drops merges at random (dropout)");
    parts_.words_whole = flag(model, "ignore_merges", false);
    if (const Status read = vocabulary(field(model, "vocab")); !read) return read;
    return merges(field(model, "merges"));
  }

  Status vocabulary(const json& vocab) {
    if (!vocab.is_object()) return damaged("has no vocabulary");
    for (const auto& [token, value] : vocab.items()) {
      const std::optional<TokenId> id = id_in(value);
      if (!id) return damaged(fmt::format("has no id for token {}", record::quoted(token)));
      parts_.largest = std::max(parts_.largest, *id);
      ids_.emplace(token, *id);
      if (auto bytes = bytes_of(token)) parts_.words.emplace(std::move(*bytes), *id);
    }
    for (int byte = 0; byte < 256; ++byte) {
      const auto found = parts_.words.find(std::string(1, static_cast<char>(byte)));
      if (found == parts_.words.end()) return another_kind(fmt::format("has no token for byte {:#04x}", byte));
      parts_.pairs.bytes[static_cast<std::size_t>(byte)] = found->second;
    }
    return Ok{};
  }

  // A rule is "a b" or ["a", "b"].
  Status merges(const json& rules) {
    if (!rules.is_array()) return damaged("has no merges");
    std::uint32_t rank = 0;
    for (const json& rule : rules) {
      std::string left, right;
      if (rule.is_array() && rule.size() == 2 && rule[0].is_string() && rule[1].is_string()) {
        left = rule[0].get<std::string>(), right = rule[1].get<std::string>();
      } else if (rule.is_string()) {
        const auto& both = rule.get_ref<const std::string&>();
        const std::size_t space = both.find(' ');
        if (space != std::string::npos) left = both.substr(0, space), right = both.substr(space + 1);
      }
      const auto a = ids_.find(left), b = ids_.find(right), merged = ids_.find(left + right);
      if (a == ids_.end() || b == ids_.end() || merged == ids_.end())
        return damaged(fmt::format("has merge {}, whose tokens are not in its vocabulary", rank));
      parts_.pairs.add(a->second, b->second, rank++, merged->second);
    }
    return Ok{};
  }

  Status normalizer() { return normalizer(field(document_, "normalizer")); }
  Status normalizer(const json& one) {
    if (one.is_null()) return Ok{};
    const std::string type = text(one, "type");
    if (type == "Sequence") {
      for (const json& inner : field(one, "normalizers"))
        if (const Status read = normalizer(inner); !read) return read;
      return Ok{};
    }
    if (type != "NFC") return another_kind(fmt::format("has the normalizer {}", record::printable(type)));
    parts_.normal_form_c = true;
    return Ok{};
  }

  Status pre_tokenizer() {
    if (const Status read = pre_tokenizer(field(document_, "pre_tokenizer")); !read) return read;
    return byte_level_ ? Status(Ok{}) : another_kind("has no pre-tokenizer ByteLevel");
  }
  Status pre_tokenizer(const json& one) {
    if (one.is_null()) return Ok{};
    const std::string type = text(one, "type");
    if (type == "Sequence") {
      for (const json& inner : field(one, "pretokenizers"))
        if (const Status read = pre_tokenizer(inner); !read) return read;
      return Ok{};
    }
    if (byte_level_) return another_kind("has a pre-tokenizer after ByteLevel");
    if (type == "Split") return split(one);
    if (type == "Digits")
      return cut(Pattern::of_expression(flag(one, "individual_digits", false) ? "\\p{N}" : "\\p{N}+"));
    if (type != "ByteLevel") return another_kind(fmt::format("has the pre-tokenizer {}", record::printable(type)));
    byte_level_ = true;
    parts_.space_before = flag(one, "add_prefix_space", true);
    parts_.spaced_from = parts_.cuts.size();
    // GPT-2's pattern.
    constexpr const char* kWords = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
    return flag(one, "use_regex", true) ? cut(Pattern::of_expression(kWords)) : Status(Ok{});
  }

  Status split(const json& one) {
    const json& pattern = field(one, "pattern");
    const std::string behavior = text(one, "behavior");
    const bool removed = behavior == "Removed", invert = flag(one, "invert", false);
    if (!removed && behavior != "Isolated")
      return another_kind(fmt::format("has a pre-tokenizer Split that is {}", record::printable(behavior)));
    const bool literal = pattern.contains("String");
    const std::string expression = text(pattern, literal ? "String" : "Regex");
    if (expression.empty()) return damaged("has a pre-tokenizer Split without a pattern");
    return cut(literal ? Pattern::of_literal(expression) : Pattern::of_expression(expression), !removed || invert,
               !removed || !invert);
  }

  Status cut(record::Result<Pattern> pattern, bool matches = true, bool rest = true) {
    if (!pattern) return another_kind(fmt::format("has a pre-tokenizer whose pattern {}", pattern.error().message));
    parts_.cuts.push_back({std::move(pattern).value(), matches, rest});
    return Ok{};
  }

  Status added() {
    for (const json& one : field(document_, "added_tokens")) {
      AddedToken token{.content = text(one, "content"),
                       .single_word = flag(one, "single_word", false),
                       .lstrip = flag(one, "lstrip", false),
                       .rstrip = flag(one, "rstrip", false),
                       .normalized = flag(one, "normalized", false)};
      // An added token in the vocabulary keeps its id.
      const auto known = ids_.find(token.content);
      const std::optional<TokenId> id = known != ids_.end() ? known->second : id_in(field(one, "id"));
      if (!id) return damaged(fmt::format("has no id for the added token {}", record::quoted(token.content)));
      token.id = *id;
      parts_.largest = std::max(parts_.largest, *id);
      if (token.normalized && parts_.normal_form_c) token.content = composed(token.content);
      (token.normalized ? parts_.added_normalized : parts_.added).add(std::move(token));
    }
    return Ok{};
  }

  const fs::path file_;
  const json& document_;
  TokenizerParts parts_;
  std::unordered_map<std::string, TokenId> ids_;  // by token as written
  bool byte_level_ = false;
};

}  // namespace

record::Result<TokenizerParts> read_tokenizer(const fs::path& file) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file, failed);
  std::ifstream stream;
  if (!failed) stream.open(file, std::ios::binary);  // opening a pipe would wait for a writer
  if (!stream.is_open()) return Error{fmt::format("{} cannot be read; check its permissions.", file.string())};
  if (size > kLongest)
    return Error{
        fmt::format("{} has {} bytes, but the limit is {}; download it again.", file.string(), size, kLongest)};
  std::ostringstream content;
  content << stream.rdbuf();
  const std::optional<json> document = record::parse_object(std::move(content).str());
  if (!document) return Error{fmt::format("{} is not a JSON object; download it again.", file.string())};
  return Reader(file, *document).run();
}

}  // namespace headroom::tokens
