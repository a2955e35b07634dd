// Reads the index of shards and checks a checkpoint's tensors.
#include "demos/llama/files/hugging_face.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "demos/llama/files/checkpoint_folder.h"
#include "demos/record/file/json_fields.h"
#include "demos/record/text.h"

namespace headroom::llama {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSingle = "model.safetensors";

// The shard's path. Links may point out of the folder: Hugging Face's cache shares files between folders.
record::Result<fs::path> inside(const fs::path& folder, const std::string& name, const fs::path& index) {
  const fs::path relative = name;
  const bool plain = !name.empty() && !relative.is_absolute() &&
                     std::ranges::none_of(relative, [](const fs::path& part) { return part == ".."; });
  const Error outside{
      fmt::format("{} names the shard {}, which is outside its folder; move the shard into {} and correct the index.",
                  index.string(), record::quoted(name), folder.string())};
  if (!plain) return outside;
  const fs::path file = folder / relative;
  std::error_code failed;
  if (fs::is_regular_file(file, failed)) return file;
  if (fs::is_symlink(file, failed))
    return Error{fmt::format("{} is a broken link to {}; download the file again, or recreate the link.", file.string(),
                             fs::read_symlink(file, failed).string())};
  return Error{
      fmt::format("{} is missing or not a file, but {} names it; download it again.", file.string(), index.string())};
}

// Maps tensors to file names.
record::Result<std::map<std::string, std::string>> read_index(const fs::path& index) {
  const record::Result<json> value = read_json_file(index);
  if (!value) return value.error();
  record::JsonReader reader(value.value(), "index");
  std::map<std::string, std::string> map;
  reader.texts("weight_map", map);
  if (!reader.ok() || map.empty())
    return Error{fmt::format("{} has no weight_map from tensors to files; download it again.", index.string())};
  return map;
}

record::Result<StoredWeights> read_shards(const fs::path& folder, const fs::path& index) {
  const auto map = read_index(index);
  if (!map) return map.error();
  StoredWeights weights;
  std::map<std::string, std::size_t> numbers;
  for (const auto& [tensor, shard] : map.value()) {
    if (numbers.contains(shard)) continue;
    const record::Result<fs::path> file = inside(folder, shard, index);
    if (!file) return file.error();
    record::Result<StoredTensors> stored = read_safetensors_header(file.value());
    if (!stored) return stored.error();
    const std::size_t number = numbers[shard] = weights.files.size();
    weights.files.push_back(file.value());
    for (auto& [name, found] : stored.value()) {
      const auto listed = map.value().find(name);
      if (listed == map.value().end() || listed->second != shard)
        return Error{fmt::format("Tensor {} is in {}, but {} does not list it there; download both files again.", name,
                                 file.value().string(), index.string())};
      found.file = number;
      weights.tensors.emplace(name, std::move(found));
    }
  }
  for (const auto& [tensor, shard] : map.value()) {
    if (!weights.tensors.contains(tensor))
      return Error{fmt::format("Tensor {} is not in {}, but {} lists it there; download both files again.", tensor,
                               (folder / shard).string(), index.string())};
  }
  return weights;
}

record::Result<StoredWeights> read_headers(const fs::path& folder) {
  if (const record::Status there = check_checkpoint_folder(folder); !there) return there.error();
  const auto has = [&](const char* name) {
    std::error_code failed;
    return fs::exists(fs::symlink_status(folder / name, failed));
  };
  const fs::path index = folder / kIndex;
  if (!has(kSingle) && has(kIndex)) return read_shards(folder, index);
  for (const char* const pickled : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (!has(kSingle) && has(pickled))
      return Error{
          fmt::format("{} is missing: the weights of {} are only in {}, which is not safetensors; save them again "
                      "with transformers' save_pretrained(), or use a revision with safetensors.",
                      kSingle, folder.string(), pickled)};
  }
  if (!has(kSingle))
    return Error{fmt::format("{} is missing, and so is {}; download the checkpoint again.", (folder / kSingle).string(),
                             kIndex)};
  const record::Result<fs::path> file = inside(folder, kSingle, folder);
  if (!file) return file.error();
  record::Result<StoredTensors> tensors = read_safetensors_header(file.value());
  if (!tensors) return tensors.error();
  return StoredWeights{.files = {file.value()}, .tensors = std::move(tensors).value()};
}

record::Status check_tensors(const StoredWeights& weights, const fs::path& folder, const Config& config) {
  std::set<std::string, std::less<>> wanted;
  const std::string model = config.id == "custom" ? "the model of its config.json" : std::string(config.id);
  const auto check_one = [&](const WeightShape& weight) -> record::Status {
    wanted.insert(weight.name);
    const auto found = weights.tensors.find(weight.name);
    if (found == weights.tensors.end())
      return Error{fmt::format("Tensor {} is missing in the checkpoint {}; use the folder of a complete model.",
                               weight.name, folder.string())};
    if (found->second.shape != weight.shape)
      return Error{fmt::format("Tensor {} in {} has shape {}, but {} needs {}; use that model's checkpoint.",
                               weight.name, weights.files[found->second.file].string(), text_of(found->second.shape),
                               model, text_of(weight.shape))};
    return record::Ok{};
  };
  for (const WeightShape& weight : weight_shapes(config))
    if (const record::Status fits = check_one(weight); !fits) return fits.error();
  const WeightShape repeated{.name = "lm_head.weight", .shape = {config.vocab_size, config.hidden_size}};
  if (weights.tensors.contains(repeated.name))
    if (const record::Status fits = check_one(repeated); !fits) return fits.error();
  for (const auto& [name, tensor] : weights.tensors) {
    // Llama 2's checkpoints store these redundant tables; transformers skips them, too.
    if (name.ends_with(".rotary_emb.inv_freq")) continue;
    if (!wanted.contains(name))
      return Error{fmt::format("Tensor {} in {} is not part of {}; use a checkpoint of that model alone.", name,
                               weights.files[tensor.file].string(), model)};
  }
  return record::Ok{};
}

}  // namespace

record::Result<StoredWeights> find_weights(const fs::path& folder, const Config& config) {
  record::Result<StoredWeights> weights = read_headers(folder);
  if (!weights) return weights.error();
  if (const record::Status fits = check_tensors(weights.value(), folder, config); !fits) return fits.error();
  return weights;
}

record::Status check_tied_head(const StoredWeights& weights, const Config& config) {
  const auto head = weights.tensors.find("lm_head.weight"), table = weights.tensors.find("model.embed_tokens.weight");
  if (!config.tie_word_embeddings || head == weights.tensors.end()) return record::Ok{};
  const StoredTensor &a = table->second, &b = head->second;
  bool same = a.type == b.type && a.bytes == b.bytes;
  constexpr std::uint64_t kPiece = 1 << 20;
  std::vector<std::byte> of_table(kPiece), of_head(kPiece);
  for (std::uint64_t at = 0; same && at < a.bytes; at += kPiece) {
    const std::size_t bytes = std::min(kPiece, a.bytes - at);
    read_stored(weights, a, at, std::span(of_table).first(bytes));
    read_stored(weights, b, at, std::span(of_head).first(bytes));
    same = std::ranges::equal(std::span(of_table).first(bytes), std::span(of_head).first(bytes));
  }
  if (same) return record::Ok{};
  return Error{
      fmt::format("{} stores an lm_head.weight that differs from its embedding, but config.json says that they are "
                  "tied; set tie_word_embeddings to false there, or save the checkpoint without lm_head.weight.",
                  weights.files[b.file].string())};
}

void read_stored(const StoredWeights& weights, const StoredTensor& tensor, std::uint64_t begin,
                 std::span<std::byte> into) {
  const fs::path& file = weights.files[tensor.file];
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(tensor.begin + begin));
  if (!stream.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size())))
    throw UnusableWeights(
        fmt::format("{} changed while its weights were being read; start again once it is complete.", file.string()));
}

}  // namespace headroom::llama
