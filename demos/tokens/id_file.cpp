// Headers of token files, and the check of their ids.
#include "demos/tokens/id_file.h"

#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "demos/record/text.h"

namespace headroom::tokens {

namespace {

using record::Error;
using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "ids are little-endian in the files");

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

template <class Number>
Number number_at(Bytes bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// What the dictionary of a .npy has behind 'key': up to its comma, brackets whole.
std::string_view value_in(std::string_view dictionary, std::string_view key) {
  const std::size_t at = dictionary.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  std::string_view rest = dictionary.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool tuple = rest.starts_with('(');
  return rest.substr(0, rest.find(tuple ? ')' : ',') + (tuple ? 1 : 0));
}

// "(12,)": 12. Nothing for other dimensions than one.
std::optional<std::uint64_t> length_in(std::string_view shape) {
  std::uint64_t length = 0;
  const char* const end = shape.data() + shape.size();
  if (!shape.starts_with('(')) return std::nullopt;
  const auto [behind, wrong] = std::from_chars(shape.data() + 1, end, length);
  if (wrong != std::errc() || std::string_view(behind, end) != ",)") return std::nullopt;
  return length;
}

// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
record::Result<TokenView> ids_of_npy(Bytes bytes, const std::string& name) {
  const bool magic = text_of(bytes).starts_with("\x93NUMPY") && bytes.size() > 12;
  if (!magic)
    return Error{fmt::format("{} is no .npy file; write it with numpy.save(), or give a text another name.", name)};
  const bool long_header = number_at<std::uint8_t>(bytes, 6) > 1;  // of versions 2 and 3
  const std::size_t begin = long_header ? 12 : 10;
  const std::size_t length = long_header ? number_at<std::uint32_t>(bytes, 8) : number_at<std::uint16_t>(bytes, 8);
  if (length > bytes.size() - begin) return Error{fmt::format("{} is cut in its header; write it again.", name)};
  const std::string_view header = text_of(bytes).substr(begin, length);
  const std::string_view type = value_in(header, "descr"), shape = value_in(header, "shape");
  const auto cast = fmt::format("write numpy.save({}, ids.astype(numpy.uint32))", record::quoted(name));
  if (type.starts_with("'>")) return Error{fmt::format("{} is big-endian ({}); {}.", name, type, cast)};
  const bool known = type == "'<u2'" || type == "'<u4'" || type == "'<i4'" || type == "'<i8'";
  if (!known)
    return Error{fmt::format("{} has type {}, and ids are read as uint16, uint32, int32 or int64; {}.", name,
                             record::printable(type), cast)};
  if (value_in(header, "fortran_order") != "False")
    return Error{fmt::format("{} is in Fortran's order; save numpy.ascontiguousarray(ids) instead.", name)};
  const std::optional<std::uint64_t> count = length_in(shape);
  if (!count)
    return Error{fmt::format("{} has shape {}, and ids are one row; save ids.reshape(-1) instead.", name,
                             record::printable(shape))};
  const auto width = static_cast<std::size_t>(type[3] - '0');
  const std::size_t data = bytes.size() - begin - length;
  if (data % width != 0 || data / width != *count)
    return Error{fmt::format("{} has {} bytes of ids, and its header says {} ids of {} bytes; write it again.", name,
                             data, *count, width)};
  return TokenView(bytes.data() + begin + length, *count, width);
}

// llm.c's dev/data/data_common.py: 256 int32, of which the first three are magic, version and the number of ids.
struct LlmcKind {
  std::int32_t magic, version;
  std::size_t width;
};
constexpr std::array kLlmcKinds{LlmcKind{20240520, 1, 2}, LlmcKind{20240801, 7, 4}};
constexpr std::size_t kLlmcHeader = 1024;

record::Result<TokenView> ids_of_bin(Bytes bytes, const std::string& name, std::int64_t vocabulary) {
  for (const LlmcKind& kind : kLlmcKinds) {
    if (bytes.size() < kLlmcHeader || number_at<std::int32_t>(bytes, 0) != kind.magic ||
        number_at<std::int32_t>(bytes, 4) != kind.version)
      continue;
    const std::int64_t count = number_at<std::int32_t>(bytes, 8);
    const std::size_t data = bytes.size() - kLlmcHeader;
    if (count < 0 || data != static_cast<std::size_t>(count) * kind.width)
      return Error{fmt::format("{} has {} bytes of ids, and its header says {} ids of {} bytes; write it again.", name,
                               data, count, kind.width)};
    return TokenView(bytes.data() + kLlmcHeader, static_cast<std::size_t>(count), kind.width);
  }
  constexpr std::int64_t kMostOf16Bits = 65536;
  const std::size_t width = vocabulary > kMostOf16Bits ? 4 : 2;
  if (bytes.size() % width != 0)
    return Error{
        fmt::format("{} has {} bytes, which are no whole ids of {}, as a vocabulary of {} takes; check how it "
                    "was written, or save the ids as .npy.",
                    name, bytes.size(), width, vocabulary)};
  return TokenView(bytes.data(), bytes.size() / width, width);
}

}  // namespace

bool is_id_file(const std::filesystem::path& file) { return file.extension() == ".npy" || file.extension() == ".bin"; }

record::Result<TokenView> ids_in(std::span<const std::byte> bytes, const std::filesystem::path& file,
                                 std::int64_t vocabulary) {
  const std::string name = file.string();
  record::Result<TokenView> ids =
      file.extension() == ".npy" ? ids_of_npy(bytes, name) : ids_of_bin(bytes, name, vocabulary);
  if (!ids) return ids;
  if (ids.value().size() == 0) return Error{fmt::format("{} has no ids; write some tokens to train on.", name)};
  const TokenView& all = ids.value();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const std::int64_t id = all[i]; id < 0 || id >= vocabulary)
      return Error{
          fmt::format("{} has id {} at place {}, and the model's vocabulary has {} tokens; take the ids of "
                      "this model's tokenizer.",
                      name, id, i, vocabulary)};
  return ids;
}

}  // namespace headroom::tokens
