// Reads JSON of other programs, and describes what is wrong with it.
#include "demos/record/file/foreign_json.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "demos/record/text.h"

namespace headroom::record {

namespace fs = std::filesystem;
using namespace std::literals;

namespace {

// Files that nest deeper are refused before parsing.
constexpr int kDeepestForeign = 256;

struct Standard {
  std::string text;
  int depth = 0;

  explicit Standard(std::string_view from) {
    constexpr std::array kWords{"-Infinity"sv, "Infinity"sv, "NaN"sv};
    bool in_string = false;
    for (std::size_t at = 0, nested = 0; at < from.size(); ++at) {
      const char c = from[at];
      if (!in_string && (c == '-' || c == 'I' || c == 'N')) {
        const auto* const word =
            std::ranges::find_if(kWords, [&](auto each) { return from.substr(at).starts_with(each); });
        if (word != kWords.end()) {
          text += "null";
          at += word->size() - 1;
          continue;
        }
      }
      text += c;
      if (in_string && c == '\\' && at + 1 < from.size())
        text += from[++at];
      else if (c == '"')
        in_string = !in_string;
      else if (!in_string && (c == '{' || c == '['))
        depth = std::max(depth, static_cast<int>(++nested));
      else if (!in_string && (c == '}' || c == ']') && nested > 0)
        --nested;
    }
  }
};

struct Other {
  std::string_view begin, what;
};
constexpr std::array kOthers{
    Other{"version https://git-lfs", "is a git LFS pointer, not the file itself; run `git lfs pull` in its folder"},
    Other{"<", "is a web page, not the file; log in to its site, accept the model's terms, and download it again"},
    Other{"\xFF\xFE"sv, "is UTF-16; save it as UTF-8"}, Other{"\xFE\xFF"sv, "is UTF-16; save it as UTF-8"}};

}  // namespace

Result<std::string> read_foreign_text(const fs::path& file, const ForeignFile& kind, std::string_view absent) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file, failed);
  std::ifstream stream;
  if (!failed) stream.open(file, std::ios::binary);  // file_size() fails for a pipe, which open() would wait on
  if (!stream.is_open()) return Error{fmt::format("{} cannot be read; {}.", file.string(), absent)};
  if (size > kind.longest)
    return Error{
        fmt::format("{} has {} bytes, but the limit is {}; {}.", file.string(), size, kind.longest, kind.again)};
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

Status check_foreign_text(std::string_view text, const std::string& file, const ForeignFile& kind) {
  const std::string_view begun = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (begun.empty()) return Error{fmt::format("{} is empty; {}.", file, kind.again)};
  for (const Other& other : kOthers)
    if (begun.starts_with(other.begin)) return Error{fmt::format("{} {}.", file, other.what)};
  return Ok{};
}

Result<std::string> standard_json(std::string_view text, const std::string& file, const ForeignFile& kind) {
  if (const Status usable = check_foreign_text(text, file, kind); !usable) return usable.error();
  Standard standard(text);
  if (standard.depth > kDeepestForeign)
    return Error{fmt::format("{} is nested {} levels deep, but the limit is {}; {}.", file, standard.depth,
                             kDeepestForeign, kind.wanted)};
  return std::move(standard.text);
}

Error not_json(std::string_view text, std::size_t byte, const std::string& file, const ForeignFile& kind) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  if (text.substr(at).find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Error{fmt::format("{} is truncated; {}.", file, kind.again)};
  const std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;  // 0 if there is none
  const std::string_view line = text.substr(begin, std::min(text.find('\n', at), text.size()) - begin);
  const auto number = std::ranges::count(text.substr(0, begin), '\n') + 1;
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  return Error{fmt::format("{} is not valid JSON in line {}: {}; correct it, or {}.", file, number,
                           quoted(line.substr(first)), kind.again)};
}

}  // namespace headroom::record
