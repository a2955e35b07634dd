// Reads and checks headers.
#include "demos/llama/files/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/record/file/json_fields.h"

namespace headroom::llama {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the reference implementation's limit

struct Header {
  std::string text;
  std::uint64_t data_begin = 0;  // offset in the file
  std::uint64_t data_bytes = 0;
};

record::Result<Header> read_header(const fs::path& file) {
  const std::string name = file.string();
  std::error_code failed;
  const std::uint64_t size = fs::file_size(file, failed);
  std::ifstream stream;
  if (!failed) stream.open(file, std::ios::binary);  // file_size() fails for a pipe, which open() would wait on
  if (!stream.is_open()) return Error{fmt::format("{} cannot be read; check its path and its permissions.", name)};
  std::uint64_t length = 0;
  if (size < kLengthBytes || !stream.read(reinterpret_cast<char*>(&length), kLengthBytes))
    return Error{fmt::format("{} is truncated: {} bytes are fewer than any safetensors file has; download it again.",
                             name, size)};
  if (length > kLongestHeader)
    return Error{
        fmt::format("{} has a header of {} bytes, but the limit is {}; it is damaged or not a safetensors file: "
                    "download it again.",
                    name, length, kLongestHeader)};
  if (length > size - kLengthBytes)
    return Error{
        fmt::format("{} is truncated: its header should have {} bytes, but the whole file has {}; download "
                    "it again.",
                    name, length, size)};
  Header header{.text = std::string(length, '\0'),
                .data_begin = kLengthBytes + length,
                .data_bytes = size - kLengthBytes - length};
  if (!stream.read(header.text.data(), static_cast<std::streamsize>(length)))
    return Error{
        fmt::format("{} cannot be read to the end of its header; check the disk, or download it again.", name)};
  return header;
}

// JSON objects drop repeated keys, so this watches the parser's events.
record::Result<json> parse_header(const std::string& text, const std::string& file) {
  std::set<std::string> names;
  std::optional<std::string> twice;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second && !twice)
      twice = value.get<std::string>();
    return true;
  };
  json header = record::nests_too_deep(text) ? json(json::value_t::discarded)
                                             : json::parse(text, watch, /*allow_exceptions=*/false);
  if (!header.is_object())
    return Error{fmt::format(
        "The header of {} is not a JSON object; the file is damaged or not a safetensors file: download it again.",
        file)};
  if (twice)
    return Error{fmt::format("{} lists tensor {} twice in its header; write or download it again.", file, *twice)};
  return header;
}

std::optional<StoredType> type_named(std::string_view name, bool whole_numbers) {
  for (const StoredType type :
       {StoredType::kF32, StoredType::kF16, StoredType::kBf16, StoredType::kI64, StoredType::kI32, StoredType::kU8})
    if (name_of(type) == name && (type <= StoredType::kBf16 || whole_numbers)) return type;
  return std::nullopt;
}

// nullopt unless `value` lists non-negative integers.
std::optional<std::vector<std::int64_t>> numbers(const json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const json& item : value) {
    if (!item.is_number_integer()) return std::nullopt;
    const auto number = item.get<std::int64_t>();  // unsigned numbers above int64 become negative
    if (number < 0) return std::nullopt;
    result.push_back(number);
  }
  return result;
}

// Bytes; nullopt if they overflow int64.
std::optional<std::uint64_t> size_of(StoredType type, const std::vector<std::int64_t>& shape) {
  std::int64_t bytes = bytes_of(type);
  for (const std::int64_t length : shape)
    if (__builtin_mul_overflow(bytes, length, &bytes)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

record::Result<StoredTensor> tensor_of(const std::string& name, const json& entry, const Header& header,
                                       const std::string& file, bool whole_numbers) {
  const auto shape = entry.is_object() && entry.contains("shape") ? numbers(entry["shape"]) : std::nullopt;
  const auto offsets =
      entry.is_object() && entry.contains("data_offsets") ? numbers(entry["data_offsets"]) : std::nullopt;
  const bool has_type = entry.is_object() && entry.contains("dtype") && entry["dtype"].is_string();
  if (!has_type || !shape || !offsets || offsets->size() != 2)
    return Error{
        fmt::format("The header of {} lacks a dtype, a shape or two data_offsets of tensor {}; write or download "
                    "the file again.",
                    file, name)};
  const auto dtype = entry["dtype"].get<std::string>();
  const std::optional<StoredType> type = type_named(dtype, whole_numbers);
  if (!type)
    return Error{
        fmt::format("Tensor {} in {} is stored as {}, but only F32, F16 and BF16 are supported; convert the "
                    "checkpoint to one of them.",
                    name, file, dtype)};
  const auto begin = static_cast<std::uint64_t>((*offsets)[0]), end = static_cast<std::uint64_t>((*offsets)[1]);
  if (begin > end || end > header.data_bytes)
    return Error{
        fmt::format("Tensor {} should be at bytes {} to {} of the data in {}, which has {}; the file is truncated or "
                    "damaged: download it again.",
                    name, begin, end, file, header.data_bytes)};
  const std::optional<std::uint64_t> bytes = size_of(*type, *shape);
  if (!bytes || *bytes != end - begin)
    return Error{
        fmt::format("Tensor {} in {} has shape {} in {}, which does not match its {} bytes; write or download the "
                    "file again.",
                    name, file, text_of(*shape), dtype, end - begin)};
  return StoredTensor{.type = *type, .shape = *shape, .begin = header.data_begin + begin, .bytes = *bytes};
}

record::Status check_filled(const StoredTensors& tensors, const Header& header, const std::string& file) {
  std::vector<const StoredTensors::value_type*> in_order;
  for (const auto& entry : tensors) in_order.push_back(&entry);
  std::ranges::sort(in_order, {},
                    [](const auto* entry) { return std::pair(entry->second.begin, entry->second.bytes); });
  std::uint64_t end = header.data_begin;
  const std::string* last = nullptr;
  for (const auto* const entry : in_order) {
    const auto& [name, tensor] = *entry;
    if (tensor.begin < end)
      return Error{
          fmt::format("Tensors {} and {} overlap in {}; write or download the file again.", *last, name, file)};
    if (tensor.begin > end)
      return Error{
          fmt::format("{} has {} bytes that belong to no tensor, before tensor {}; write or download the file "
                      "again.",
                      file, tensor.begin - end, name)};
    end = tensor.begin + tensor.bytes;
    last = &name;
  }
  const std::uint64_t left = header.data_begin + header.data_bytes - end;
  if (left > 0)
    return Error{fmt::format("{} has {} bytes that belong to no tensor, at its end; write or download the file again.",
                             file, left)};
  return record::Ok{};
}

}  // namespace

std::string_view name_of(StoredType type) {
  constexpr std::array<std::string_view, 6> kNames{"F32", "F16", "BF16", "I64", "I32", "U8"};
  return kNames[static_cast<std::size_t>(type)];
}

std::int64_t bytes_of(StoredType type) {
  constexpr std::array<std::int64_t, 6> kBytes{4, 2, 2, 8, 4, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

std::string text_of(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

record::Result<StoredTensors> read_safetensors_header(const fs::path& file, bool whole_numbers) {
  const std::string name = file.string();
  const record::Result<Header> header = read_header(file);
  if (!header) return header.error();
  const record::Result<json> entries = parse_header(header.value().text, name);
  if (!entries) return entries.error();
  StoredTensors tensors;
  for (const auto& [tensor_name, entry] : entries.value().items()) {
    if (tensor_name == "__metadata__") continue;  // holds free text
    record::Result<StoredTensor> tensor = tensor_of(tensor_name, entry, header.value(), name, whole_numbers);
    if (!tensor) return tensor.error();
    tensors.emplace(tensor_name, std::move(tensor).value());
  }
  if (const record::Status filled = check_filled(tensors, header.value(), name); !filled) return filled.error();
  return tensors;
}

}  // namespace headroom::llama
