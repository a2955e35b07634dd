// Reads a checkpoint's JSON files, and checks its folder.
#include "demos/llama/files/checkpoint_folder.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "demos/llama/files/hugging_face.h"
#include "demos/record/file/foreign_json.h"

namespace headroom::llama {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

namespace {

constexpr record::ForeignFile kModelJson{
    .wanted = "use the config.json of a model", .again = "download it again", .longest = 100'000'000};

}  // namespace

fs::path config_file(const fs::path& weights) { return is_config_alone(weights) ? weights : weights / "config.json"; }

record::Result<json> read_config_file(const fs::path& weights) {
  if (!is_config_alone(weights))
    if (const record::Status there = check_checkpoint_folder(weights); !there) return there.error();
  return read_json_file(config_file(weights));
}

record::Result<json> read_json_file(const fs::path& file) {
  const record::Result<std::string> text =
      record::read_foreign_text(file, kModelJson, "pass a folder with a Hugging Face checkpoint, or its config.json");
  if (!text) return text.error();
  return record::parse_foreign_json<json>(text.value(), file.string(), kModelJson);
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
