// Opens, checks and encodes data.
#include "demos/tokens/token_data.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "demos/record/text.h"
#include "demos/tokens/foreign_file.h"
#include "demos/tokens/tokenizer.h"

namespace headroom::tokens {

namespace {

using record::Error;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Error not_text(std::string_view text, const std::string& name, std::int64_t line) {
  if (const std::string_view kind = foreign_kind(std::as_bytes(std::span(text))); !kind.empty())
    return Error{
        fmt::format("The data file {} is {}, but data must be UTF-8 text, or ids as .npy or .bin; write its ids with "
                    "numpy.save(\"ids.npy\", ids).",
                    name, kind)};
  return Error{fmt::format(
      "The data file {} is not UTF-8 text (line {}): convert it, for example with `iconv -t UTF-8`.", name, line)};
}

// No UTF-8 sequence contains a line feed, so lines can be checked separately.
record::Status check_text(std::string_view text, const std::string& name) {
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    if (!record::valid_utf8(text.substr(at, end - at))) return not_text(text, name, number);
    at = end + 1;
  }
  return record::Ok{};
}

struct Opened {
  MappedFile file;
  std::optional<TokenView> ids;  // nullopt: the tokenizer makes them
  std::optional<TokenizerParts> tokenizer;
};

record::Result<Opened> open(const DataSource& source) {
  record::Result<MappedFile> file = MappedFile::open(source.file);
  if (!file) return file.error();
  Opened opened{std::move(file).value(), {}, {}};
  if (is_id_file(source.file)) {
    const record::Result<TokenView> ids = ids_in(opened.file.bytes(), source.file, source.vocabulary, source.data_type);
    if (!ids) return ids.error();
    opened.ids = ids.value();
    return opened;
  }
  if (source.data_type != kAnyIdType)
    return Error{fmt::format("data_type={} applies to ids in a .bin or .npy, but {} is text; remove data_type.",
                             source.data_type, source.file.string())};
  if (const record::Status utf8 = check_text(text_of(opened.file), source.file.string()); !utf8) return utf8.error();
  if (source.tokenizer.empty()) {
    opened.ids = TokenView(text_of(opened.file));
    return opened;
  }
  record::Result<TokenizerParts> tokenizer = read_tokenizer(source.tokenizer);
  if (!tokenizer) return tokenizer.error();
  opened.tokenizer = std::move(tokenizer).value();
  if (opened.tokenizer->largest >= source.vocabulary)
    return Error{
        fmt::format("{} has ids up to {}, but the model's vocabulary has {} tokens; use the tokenizer of this model.",
                    source.tokenizer.string(), opened.tokenizer->largest, source.vocabulary)};
  return opened;
}

}  // namespace

std::string DataSource::words(std::span<const std::byte> bytes) const {
  const std::string name = file.filename().string();
  if (is_id_file(file)) {
    const auto ids = find_ids(bytes, file, vocabulary, data_type);
    return ids ? fmt::format("ids of {} ({})", name, ids.value().words()) : "ids of " + name;
  }
  if (tokenizer.empty()) return "bytes of " + name;
  return fmt::format("{} of {}", tokenizer.filename().string(),
                     tokenizer.has_parent_path() ? tokenizer.parent_path().string() : ".");
}

record::Status check(const DataSource& source) {
  const record::Result<Opened> opened = open(source);
  if (!opened) return opened.error();
  return record::Ok{};
}

record::Result<TokenData> TokenData::read(const DataSource& source, const std::atomic<bool>* cancel) {
  record::Result<Opened> opened = open(source);
  if (!opened) return opened.error();
  TokenData data;
  if (opened.value().ids) {
    data.in_file_ = opened.value().ids;
    data.file_ = std::move(opened.value().file);
    return data;
  }
  data.made_ = encode(*opened.value().tokenizer, text_of(opened.value().file), cancel);
  if (cancel != nullptr && cancel->load(std::memory_order_relaxed))
    return Error{"Cancelled while the text was tokenized.", record::ErrorKind::kRefused};
  if (data.made_.empty())
    return Error{fmt::format("The tokenizer {} finds no tokens in {}: use a longer text.", source.tokenizer.string(),
                             source.file.string())};
  return data;
}

TokenView TokenData::view() const {
  return in_file_ ? *in_file_ : TokenView(made_.data(), made_.size(), sizeof(TokenId));
}

}  // namespace headroom::tokens
