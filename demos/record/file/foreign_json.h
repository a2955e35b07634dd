// JSON that other programs wrote, such as configurations and indexes: reads it, and recognizes files mistaken for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/record/result.h"

namespace headroom::record {

// The files of a reader. Both texts end a sentence that begins with the file's name.
struct ForeignFile {
  std::string_view wanted;     // "use the config.json of a model"
  std::string_view again;      // "download it again"
  std::uintmax_t longest = 0;  // bytes
};

// The text of a file. `absent` says what to pass instead of a file that cannot be read.
Result<std::string> read_foreign_text(const std::filesystem::path& file, const ForeignFile& kind,
                                      std::string_view absent);

// Refuses empty texts, git LFS pointers, web pages and UTF-16.
Status check_foreign_text(std::string_view text, const std::string& file, const ForeignFile& kind);

// The text with null instead of Infinity, -Infinity and NaN. Refuses what check_foreign_text() refuses, and deep
// nesting before it is parsed.
Result<std::string> standard_json(std::string_view text, const std::string& file, const ForeignFile& kind);
// Says that the text is truncated, or quotes the invalid line. `byte`: the parser's position, counted from 1.
Error not_json(std::string_view text, std::size_t byte, const std::string& file, const ForeignFile& kind);

// The file's object. An error is one sentence with file, line and cure.
template <class Json>
Result<Json> parse_foreign_json(std::string_view text, const std::string& file, const ForeignFile& kind) {
  const Result<std::string> standard = standard_json(text, file, kind);
  if (!standard) return standard.error();
  try {
    Json value = Json::parse(standard.value());
    if (value.is_object()) return value;
    return Error{fmt::format("{} is JSON, but not an object; {}.", file, kind.wanted)};
  } catch (const typename Json::parse_error& error) {
    return not_json(standard.value(), error.byte, file, kind);
  } catch (const typename Json::out_of_range&) {
    return Error{fmt::format("{} contains a number that is too large; correct it, or {}.", file, kind.again)};
  }
}

}  // namespace headroom::record
