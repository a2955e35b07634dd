// Reads headers of token files, guesses types without a header, and checks the ids.
#include "demos/tokens/id_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "demos/record/find.h"
#include "demos/record/text.h"
#include "demos/tokens/foreign_file.h"

namespace headroom::tokens {

namespace {

using namespace std::literals;
using record::Error;
using Bytes = std::span<const std::byte>;
using Found = record::Result<std::optional<IdPlace>>;

static_assert(std::endian::native == std::endian::little, "ids are little-endian in the files");

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

template <class Number>
Number number_at(Bytes bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

const IdType* id_type(std::string_view name) { return record::find_in(kIdTypes, name, &IdType::name); }

// Type codes of litgpt and Megatron-LM, originally fairseq's; null: not a type of ids.
const IdType* type_by_code(std::uint8_t code) {
  constexpr std::array kNames{""sv, "uint8"sv, "int8"sv, "int16"sv, "int32"sv, "int64"sv, ""sv, ""sv, "uint16"sv};
  return code < kNames.size() ? id_type(kNames[code]) : nullptr;
}

// The key's value in a .npy's dictionary, up to its comma or bracket.
std::string_view value_in(std::string_view dictionary, std::string_view key) {
  const std::size_t at = dictionary.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  std::string_view rest = dictionary.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool tuple = rest.starts_with('(');
  return rest.substr(0, rest.find(tuple ? ')' : ',') + (tuple ? 1 : 0));
}

// 12 for "(12,)"; nullopt unless there is one dimension.
std::optional<std::uint64_t> length_in(std::string_view shape) {
  std::uint64_t length = 0;
  const char* const end = shape.data() + shape.size();
  if (!shape.starts_with('(')) return std::nullopt;
  const auto [behind, wrong] = std::from_chars(shape.data() + 1, end, length);
  if (wrong != std::errc() || std::string_view(behind, end) != ",)") return std::nullopt;
  return length;
}

// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
Found place_in_npy(Bytes bytes, const std::string& name) {
  if (!text_of(bytes).starts_with("\x93NUMPY") || bytes.size() <= 12) return std::optional<IdPlace>();
  const bool long_header = number_at<std::uint8_t>(bytes, 6) > 1;  // versions 2 and 3
  const std::size_t begin = long_header ? 12 : 10;
  const std::size_t length = long_header ? number_at<std::uint32_t>(bytes, 8) : number_at<std::uint16_t>(bytes, 8);
  if (length > bytes.size() - begin) return Error{fmt::format("{} ends inside its header; write it again.", name)};
  const std::string_view header = text_of(bytes).substr(begin, length);
  const std::string_view type = value_in(header, "descr"), shape = value_in(header, "shape");
  const auto cast = fmt::format("write it with numpy.save({}, ids.astype(numpy.uint32))", record::quoted(name));
  if (type.starts_with("'>")) return Error{fmt::format("{} is big-endian ({}); {}.", name, type, cast)};
  const auto* const known = std::ranges::find_if(kIdTypes, [&](const IdType& each) {
    const std::string code = fmt::format("{}{}'", each.has_sign ? 'i' : 'u', each.width);
    return type == "'<" + code || (each.width == 1 && type == "'|" + code);
  });
  if (known == kIdTypes.end())
    return Error{
        fmt::format("{} has type {}, but ids must be whole numbers; {}.", name, record::printable(type), cast)};
  if (value_in(header, "fortran_order") != "False")
    return Error{fmt::format("{} is in Fortran order; save numpy.ascontiguousarray(ids) instead.", name)};
  const std::optional<std::uint64_t> count = length_in(shape);
  if (!count)
    return Error{fmt::format("{} has shape {}, but ids must be one-dimensional; save ids.reshape(-1) instead.", name,
                             record::printable(shape))};
  const std::size_t data = bytes.size() - begin - length;
  if (data % known->width != 0 || data / known->width != *count)
    return Error{fmt::format("{} has {} bytes of ids, but its header says {} ids of {} bytes; write it again.", name,
                             data, *count, known->width)};
  return std::optional(IdPlace{.begin = begin + length, .count = *count, .type = known, .source = ""});
}

// llm.c's header (dev/data/data_common.py): 256 int32, starting with magic, version and number of ids.
struct LlmcKind {
  std::int32_t magic, version;
  std::string_view type;
};
constexpr std::array kLlmcKinds{LlmcKind{20240520, 1, "uint16"}, LlmcKind{20240801, 7, "uint32"}};
constexpr std::size_t kLlmcHeader = 1024;

Found place_after_llmc_header(Bytes bytes, const std::string& name) {
  if (bytes.size() < kLlmcHeader) return std::optional<IdPlace>();
  const auto* const kind = record::find_in(kLlmcKinds, number_at<std::int32_t>(bytes, 0), &LlmcKind::magic);
  if (kind == nullptr) return std::optional<IdPlace>();
  const std::int32_t version = number_at<std::int32_t>(bytes, 4), count = number_at<std::int32_t>(bytes, 8);
  if (version != kind->version)
    return Error{fmt::format("{} has llm.c's header in version {}, but only {} is supported; save the ids as .npy.",
                             name, version, kind->version)};
  const IdType& type = *id_type(kind->type);
  const std::size_t data = bytes.size() - kLlmcHeader;
  if (count < 0 || data != static_cast<std::size_t>(count) * type.width)
    return Error{fmt::format("{} has {} bytes of ids, but its header says {} ids of {} bytes; write it again.", name,
                             data, count, type.width)};
  return std::optional(IdPlace{
      .begin = kLlmcHeader, .count = static_cast<std::size_t>(count), .type = &type, .source = "llm.c's header"});
}

record::Result<IdPlace> place_of_rest(Bytes bytes, std::size_t begin, const IdType& type, std::string source,
                                      const std::string& name) {
  const std::size_t data = bytes.size() - begin;
  if (data % type.width != 0)
    return Error{
        fmt::format("{} has {} bytes of ids, which is not a whole number of {} ids; it is truncated or has another "
                    "data_type.",
                    name, data, type.name)};
  return IdPlace{.begin = begin, .count = data / type.width, .type = &type, .source = std::move(source)};
}

Error no_ids(const std::string& name, std::string_view source) {
  return Error{fmt::format("{} does not contain whole numbers according to {}; save the ids as .npy.", name, source)};
}

// Header of litgpt's PackedDataset: magic, version (8 bytes), type (1 byte), chunk length (8 bytes).
Found place_after_litgpt_header(Bytes bytes, const std::string& name) {
  constexpr std::string_view kMagic = "LITPKDS", kSource = "litgpt's header";
  constexpr std::size_t kType = kMagic.size() + 8, kHeader = kType + 1 + 8;
  if (!text_of(bytes).starts_with(kMagic) || bytes.size() < kHeader) return std::optional<IdPlace>();
  const IdType* const type = type_by_code(number_at<std::uint8_t>(bytes, kType));
  if (type == nullptr) return no_ids(name, kSource);
  const auto place = place_of_rest(bytes, kHeader, *type, std::string(kSource), name);
  if (!place) return place.error();
  return std::optional(place.value());
}

// Megatron-LM's index (a.idx for a.bin): magic, version (8 bytes), type (1 byte).
Found place_by_index(Bytes bytes, const std::filesystem::path& file) {
  constexpr std::string_view kMagic = "MMIDIDX\0\0"sv;
  constexpr std::size_t kType = kMagic.size() + 8;
  const std::filesystem::path index = std::filesystem::path(file).replace_extension(".idx");
  std::ifstream opened(index, std::ios::binary);
  std::string begin(kType + 1, '\0');
  if (!opened.read(begin.data(), static_cast<std::streamsize>(begin.size())) || !begin.starts_with(kMagic))
    return std::optional<IdPlace>();
  const std::string source = index.filename().string();
  const IdType* const type = type_by_code(static_cast<std::uint8_t>(begin[kType]));
  if (type == nullptr) return no_ids(file.string(), source);
  const auto place = place_of_rest(bytes, 0, *type, source, file.string());
  if (!place) return place.error();
  return std::optional(place.value());
}

std::int64_t id_at(const TokenView& ids, std::size_t place, const IdType& type) {
  const std::int64_t id = ids[place];
  if (!type.has_sign) return id;
  const std::size_t shift = 64 - 8 * type.width;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(id) << shift) >> shift;
}

std::optional<std::size_t> first_beyond(const TokenView& ids, const IdType& type, std::int64_t vocabulary) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (const std::int64_t id = id_at(ids, i, type); id < 0 || id >= vocabulary) return i;
  return std::nullopt;
}

// Counts of nonzero ids at even and odd places, among the first million.
struct Halves {
  std::size_t even = 0, odd = 0;

  explicit Halves(const TokenView& ids) {
    constexpr std::size_t kEnough = 1 << 20;
    for (std::size_t i = 0; i + 1 < std::min(ids.size(), kEnough); i += 2) {
      even += ids[i] != 0;
      odd += ids[i + 1] != 0;
    }
  }
  // In text the two counts are similar; if ids are halves of wider ones, they are not.
  bool differ() const {
    constexpr std::size_t kSurely = 32, kTimes = 8;
    return std::max(even, odd) >= kSurely && kTimes * std::min(even, odd) <= std::max(even, odd);
  }
};

// True if all bytes are characters. 30 of the 256 byte values appear in no text, but often in 16-bit ids.
bool read_as_text(Bytes bytes) {
  constexpr std::size_t kEnough = 1 << 20;
  return std::ranges::all_of(bytes.first(std::min(bytes.size(), kEnough)), [](std::byte byte) {
    const auto code = std::to_integer<unsigned char>(byte);
    return code >= ' ' ? code != 0x7F : code == '\t' || code == '\n' || code == '\r';
  });
}

const IdType& narrowest(std::int64_t vocabulary) {
  return *id_type(vocabulary <= 256 ? "uint8" : vocabulary <= 65536 ? "uint16" : "uint32");
}

// Rule 4 of find_ids().
record::Result<IdPlace> place_by_ids(Bytes bytes, const std::string& name, std::int64_t vocabulary) {
  constexpr const char* kAsk = "set the type, for example data_type=uint32";
  const IdType* type = &narrowest(vocabulary);
  if (type->width == 2 && bytes.size() % 2 == 0 && read_as_text(bytes) &&
      !first_beyond(TokenView(bytes.data(), bytes.size() / 2, 2), *type, vocabulary))
    return Error{fmt::format("{} looks like text, which gives ids below {} both as uint8 and as uint16; {}.", name,
                             vocabulary, kAsk)};
  for (; type->width < 8; ++type) {  // unsigned types in order
    const TokenView ids(bytes.data(), bytes.size() / type->width, type->width);
    const IdType& wider = type[1];
    const Halves halves(ids);
    if (halves.differ()) {
      if (halves.odd == 0) continue;
      return Error{
          fmt::format("{} has zeros in nearly every second place as {}, so the ids probably have another "
                      "type; {}.",
                      name, type->name, kAsk)};
    }
    const bool both = halves.odd == 0 && bytes.size() % wider.width == 0 && !first_beyond(ids, *type, vocabulary);
    if (!both) break;
    return Error{
        fmt::format("{} has ids below {} both as {} and as {}; {}.", name, vocabulary, type->name, wider.name, kAsk)};
  }
  return place_of_rest(bytes, 0, *type, "the ids", name);
}

Found place_by_header(Bytes bytes, const std::filesystem::path& file) {
  const std::string name = file.string();
  for (const auto read : {place_in_npy, place_after_llmc_header, place_after_litgpt_header})
    if (Found found = read(bytes, name); !found || found.value()) return found;
  return place_by_index(bytes, file);
}

}  // namespace

bool is_id_file(const std::filesystem::path& file) { return file.extension() == ".npy" || file.extension() == ".bin"; }

std::string IdPlace::words() const { return std::string(type->name) + (source.empty() ? "" : ", by " + source); }

record::Result<IdPlace> find_ids(Bytes bytes, const std::filesystem::path& file, std::int64_t vocabulary,
                                 std::string_view data_type) {
  const std::string name = file.string();
  const Found said = place_by_header(bytes, file);
  if (!said) return said.error();
  if (said.value()) {
    const IdPlace& place = *said.value();
    if (data_type == kAnyIdType || data_type == place.type->name) return place;
    return Error{fmt::format("{} has {} ids{}, but data_type is {}; remove data_type.", name, place.type->name,
                             place.source.empty() ? "" : " by " + place.source, data_type)};
  }
  if (file.extension() == ".npy")
    return Error{fmt::format("{} is not a .npy file; write it with numpy.save(), or rename it if it is text.", name)};
  if (const IdType* const type = id_type(data_type)) return place_of_rest(bytes, 0, *type, "data_type", name);
  if (const std::string_view kind = foreign_kind(bytes); !kind.empty())
    return Error{
        fmt::format("{} is {}, but a .bin must contain only ids; write them with numpy.save(\"ids.npy\", "
                    "ids).",
                    name, kind)};
  return place_by_ids(bytes, name, vocabulary);
}

record::Result<TokenView> ids_in(Bytes bytes, const std::filesystem::path& file, std::int64_t vocabulary,
                                 std::string_view data_type) {
  const std::string name = file.string();
  const record::Result<IdPlace> found = find_ids(bytes, file, vocabulary, data_type);
  if (!found) return found.error();
  const auto& [begin, count, type, source] = found.value();
  if (count == 0) return Error{fmt::format("{} has no ids; use a file with tokens to train on.", name)};
  const TokenView ids(bytes.data() + begin, count, type->width);
  if (const auto beyond = first_beyond(ids, *type, vocabulary)) {
    const bool guessed = source == "the ids";
    const std::string other =
        fmt::format(", or set another type, for example data_type={}", type->width == 4 ? "uint16" : "uint32");
    return Error{
        fmt::format("{} has id {} at place {} as {}, but the model's vocabulary has {} tokens; use ids from this "
                    "model's tokenizer{}.",
                    name, id_at(ids, *beyond, *type), *beyond, type->name, vocabulary, guessed ? other : "")};
  }
  return ids;
}

}  // namespace headroom::tokens
