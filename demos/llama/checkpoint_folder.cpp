// Reads a checkpoint's JSON files.
#include "demos/llama/checkpoint_folder.h"

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "demos/llama/hugging_face.h"
#include "demos/llama/json_text.h"

namespace headroom::llama {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

namespace {

constexpr std::uintmax_t kLongestText = 100'000'000;

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
  if (!failed) stream.open(file, std::ios::binary);  // opening a pipe would wait for a writer
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
