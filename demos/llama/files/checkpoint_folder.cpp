// Reads a checkpoint's JSON files, which other programs wrote, and recognizes files mistaken for them.
#include "demos/llama/files/checkpoint_folder.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "demos/llama/files/hugging_face.h"
#include "demos/record/text.h"

namespace headroom::llama {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

namespace {

using namespace std::literals;

constexpr std::uintmax_t kLongestText = 100'000'000;

// Files that nest deeper are refused before parsing.
constexpr int kDeepest = 256;

// The text with null instead of Infinity, -Infinity and NaN, and its nesting depth.
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

// `byte`: the parser's position, counted from 1.
Error not_json(std::string_view text, std::size_t byte, const std::string& file) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  if (text.substr(at).find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Error{fmt::format("{} is truncated; download it again.", file)};
  const std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;  // 0 if there is none
  const std::string_view line = text.substr(begin, std::min(text.find('\n', at), text.size()) - begin);
  const auto number = std::ranges::count(text.substr(0, begin), '\n') + 1;
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  return Error{fmt::format("{} is not valid JSON in line {}: {}; correct it, or download the file again.", file, number,
                           record::quoted(line.substr(first)))};
}

// An error names the file. It says if the file is a git LFS pointer, a web page, UTF-16 or truncated, and otherwise
// quotes the invalid line.
record::Result<json> parse_json_text(std::string_view text, const std::string& file) {
  const std::string_view begun = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (begun.empty()) return Error{fmt::format("{} is empty; download it again.", file)};
  for (const Other& other : kOthers)
    if (begun.starts_with(other.begin)) return Error{fmt::format("{} {}.", file, other.what)};
  const Standard standard(text);
  if (standard.depth > kDeepest)
    return Error{fmt::format("{} is nested {} levels deep, but the limit is {}; use the config.json of a model.", file,
                             standard.depth, kDeepest)};
  try {
    json value = json::parse(standard.text);
    if (value.is_object()) return value;
    return Error{fmt::format("{} is JSON, but not an object; use the config.json of a model.", file)};
  } catch (const json::parse_error& error) {
    return not_json(standard.text, error.byte, file);
  } catch (const json::out_of_range&) {
    return Error{fmt::format("{} contains a number that is too large; correct it, or download the file again.", file)};
  }
}

}  // namespace

fs::path config_file(const fs::path& weights) { return is_config_alone(weights) ? weights : weights / "config.json"; }

record::Result<json> read_config_file(const fs::path& weights) {
  if (!is_config_alone(weights))
    if (const record::Status there = check_checkpoint_folder(weights); !there) return there.error();
  return read_json_file(config_file(weights));
}

record::Result<json> read_json_file(const fs::path& file) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file, failed);
  std::ifstream stream;
  if (!failed) stream.open(file, std::ios::binary);  // file_size() fails for a pipe, which open() would wait on
  if (!stream.is_open())
    return Error{fmt::format("{} cannot be read; pass a folder with a Hugging Face checkpoint, or its config.json.",
                             file.string())};
  if (size > kLongestText)
    return Error{
        fmt::format("{} has {} bytes, but the limit is {}; download it again.", file.string(), size, kLongestText)};
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_json_text(text.view(), file.string());
}

record::Status check_checkpoint_folder(const fs::path& folder) {
  std::error_code failed;
  const bool there = fs::exists(folder, failed);
  if (!fs::is_directory(folder, failed))
    return Error{
        fmt::format("{} is not a folder{}; pass `weights` a folder with a Hugging Face checkpoint, or a config.json "
                    "alone.",
                    folder.string(), there ? " but a file" : ": it does not exist")};
  const fs::path snapshots = folder / "snapshots";
  if (fs::exists(folder / "config.json", failed) || !fs::is_directory(snapshots, failed)) return record::Ok{};
  std::set<fs::path> revisions;
  for (const auto& entry : fs::directory_iterator(snapshots, failed)) revisions.insert(entry.path());
  const fs::path one = revisions.empty() ? snapshots / "REVISION" : *revisions.begin();
  return Error{
      fmt::format("{} is an entry of the Hugging Face cache, not a checkpoint; use the folder of a revision inside "
                  "it, {}.",
                  folder.string(), one.string())};
}

}  // namespace headroom::llama
