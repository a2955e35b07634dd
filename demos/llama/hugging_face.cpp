// config.json, the index of shards, and which tensors a checkpoint must have.
#include "demos/llama/hugging_face.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "demos/record/json_fields.h"
#include "demos/record/text.h"

namespace headroom::llama {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

constexpr std::uintmax_t kLongestText = 100'000'000;  // of config.json and the index
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSingle = "model.safetensors";

record::Result<json> read_json(const fs::path& file) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file, failed);
  std::ifstream stream;
  if (!failed) stream.open(file, std::ios::binary);  // not of a pipe, which would wait for a writer
  if (!stream.is_open())
    return Error{fmt::format("{} cannot be read; give a folder with a Hugging Face Llama checkpoint.", file.string())};
  if (size > kLongestText)
    return Error{fmt::format("{} has {} bytes, and more than {} are not read; download it again.", file.string(), size,
                             kLongestText)};
  std::ostringstream text;
  text << stream.rdbuf();
  std::optional<json> value = record::parse_object(std::move(text).str());
  if (!value) return Error{fmt::format("{} is no JSON object; download it again.", file.string())};
  return *std::move(value);
}

// Takes values out of config.json and remembers what is wrong with the first that is missing or does not suit. A key
// with null counts as absent.
class ConfigFields {
 public:
  explicit ConfigFields(const json& object) : object_(object) {}

  std::int64_t whole(const char* key, std::optional<std::int64_t> otherwise = std::nullopt) {
    const json* const value = find(key);
    if (value == nullptr && otherwise) return *otherwise;
    if (value == nullptr || !value->is_number_integer()) return wrong(key, "a whole number"), 0;
    return value->get<std::int64_t>();
  }
  double real(const char* key, std::optional<double> otherwise = std::nullopt) {
    const json* const value = find(key);
    if (value == nullptr && otherwise) return *otherwise;
    if (value == nullptr || !value->is_number() || !(value->get<double>() > 0))
      return wrong(key, "a number above 0"), 0;
    return value->get<double>();
  }
  bool flag(const char* key, bool otherwise) {
    const json* const value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) return wrong(key, "true or false"), false;
    return value->get<bool>();
  }
  std::string text(const char* key, const char* otherwise) {
    const json* const value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) return wrong(key, "a word"), "";
    return value->get<std::string>();
  }
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  // The value has to be that of a model which is computed here.
  template <class T>
  void must_be(const char* key, const T& value, const T& suits, const char* what) {
    if (value != suits) wrong(key, what);
  }
  // `suits`: what would do in its place.
  void wrong(const char* key, const std::string& suits) {
    constexpr std::size_t kLongest = 100;
    if (!first_wrong_.empty()) return;
    const json* const value = find(key);
    std::string has = value == nullptr ? "nothing" : value->dump(-1, ' ', true, json::error_handler_t::replace);
    if (has.size() > kLongest) has = has.substr(0, kLongest) + "…";
    first_wrong_ = fmt::format("{} that suits a Llama as it is computed here: it says {}, and what would do is {}", key,
                               has, suits);
  }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  const json& object_;
  std::string first_wrong_;
};

// rope_scaling, or rope_parameters in newer files, which holds rope_theta as well.
void read_rope(ConfigFields& fields, Config& config) {
  const char* const key = fields.find("rope_parameters") != nullptr ? "rope_parameters" : "rope_scaling";
  const json* const object = fields.find(key);
  config.rope_theta = fields.real("rope_theta", 10000);  // of a Llama that says nothing
  if (object == nullptr) return;
  constexpr const char* kSuits =
      "rope_type default, or llama3 with its factor, low_freq_factor, high_freq_factor and "
      "original_max_position_embeddings";
  if (!object->is_object()) return fields.wrong(key, kSuits);
  ConfigFields rope(*object);
  config.rope_theta = rope.real("rope_theta", config.rope_theta);
  const std::string type = rope.text("rope_type", rope.text("type", "default").c_str());
  if (type == "llama3") {
    config.rope_scaling = RopeScaling{.factor = rope.real("factor"),
                                      .low_frequency_factor = rope.real("low_freq_factor"),
                                      .high_frequency_factor = rope.real("high_freq_factor"),
                                      .original_length = rope.real("original_max_position_embeddings")};
    if (!(config.rope_scaling->low_frequency_factor < config.rope_scaling->high_frequency_factor))
      fields.wrong(key, "a low_freq_factor below its high_freq_factor");
  } else if (type != "default") {
    fields.wrong(key, kSuits);
  }
  if (!rope.first_wrong().empty()) fields.wrong(key, kSuits);
}

// The shard as a file of the folder, or why it is not one.
record::Result<fs::path> inside(const fs::path& folder, const std::string& name, const fs::path& index) {
  const fs::path relative = name;
  const bool plain = !name.empty() && !relative.is_absolute() &&
                     std::ranges::none_of(relative, [](const fs::path& part) { return part == ".."; });
  const Error outside{
      fmt::format("{} names the shard {}, which is outside its folder; a shard must be in {} itself: "
                  "put it there and correct the index.",
                  index.string(), record::quoted(name), folder.string())};
  if (!plain) return outside;
  const fs::path file = folder / relative;
  std::error_code failed;
  const fs::path real = fs::canonical(file, failed);
  if (failed || !fs::is_regular_file(real, failed))
    return Error{
        fmt::format("{} is missing or no file, though {} names it; download it again.", file.string(), index.string())};
  const fs::path root = fs::canonical(folder, failed);
  const auto lies_in = [](const fs::path& path, const fs::path& parent) {
    return std::ranges::mismatch(parent, path).in1 == parent.end();
  };
  if (lies_in(real, root)) return file;
  // A Hugging Face cache: NAME/snapshots/REVISION/file links to NAME/blobs/hash.
  const bool cache = root.parent_path().filename() == "snapshots";
  if (cache && lies_in(real, root.parent_path().parent_path() / "blobs")) return file;
  return Error{fmt::format("{} is a link to {}, which is outside its folder; put the file itself there.", file.string(),
                           real.string())};
}

// Which file each tensor is in, by the index; the names are those of the files.
record::Result<std::map<std::string, std::string>> read_index(const fs::path& index) {
  const record::Result<json> value = read_json(index);
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
  std::map<std::string, std::size_t> numbers;  // of the files
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
        return Error{fmt::format("Tensor {} is in {}, but {} does not list it there; download both again.", name,
                                 file.value().string(), index.string())};
      found.file = number;
      weights.tensors.emplace(name, std::move(found));
    }
  }
  for (const auto& [tensor, shard] : map.value()) {
    if (!weights.tensors.contains(tensor))
      return Error{fmt::format("Tensor {} is not in {}, where {} lists it; download both again.", tensor,
                               (folder / shard).string(), index.string())};
  }
  return weights;
}

record::Status check_folder(const fs::path& folder) {
  std::error_code failed;
  const bool there = fs::exists(folder, failed);
  if (!fs::is_directory(folder, failed))
    return Error{fmt::format("{} is no folder{}; `weights` takes one with a Hugging Face Llama checkpoint.",
                             folder.string(), there ? " but a file" : ": nothing is there")};
  const fs::path snapshots = folder / "snapshots";
  if (fs::exists(folder / "config.json", failed) || !fs::is_directory(snapshots, failed)) return record::Ok{};
  std::set<fs::path> revisions;
  for (const auto& entry : fs::directory_iterator(snapshots, failed)) revisions.insert(entry.path());
  const fs::path one = revisions.empty() ? snapshots / "REVISION" : *revisions.begin();
  return Error{
      fmt::format("{} is an entry of the Hugging Face cache, not a checkpoint; take the folder of a revision "
                  "in it, {}.",
                  folder.string(), one.string())};
}

record::Result<StoredWeights> read_headers(const fs::path& folder) {
  if (const record::Status there = check_folder(folder); !there) return there.error();
  const auto has = [&](const char* name) {
    std::error_code failed;
    return fs::exists(fs::symlink_status(folder / name, failed));
  };
  const fs::path index = folder / kIndex;
  if (!has(kSingle) && has(kIndex)) return read_shards(folder, index);
  for (const char* const pickled : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (!has(kSingle) && has(pickled))
      return Error{
          fmt::format("{} is missing: the weights of {} are only in {}, and safetensors are read; save them again with "
                      "transformers' save_pretrained(), or take a revision with safetensors.",
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
      return Error{fmt::format("Tensor {} is missing in the checkpoint {}; take the folder of a model that has it.",
                               weight.name, folder.string())};
    if (found->second.shape != weight.shape)
      return Error{fmt::format("Tensor {} in {} has shape {}, and {} needs {}; take that model's checkpoint.",
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
    // Tables that checkpoints of Llama 2's time store though they follow from the config; transformers skips them, too.
    if (name.ends_with(".rotary_emb.inv_freq")) continue;
    if (!wanted.contains(name))
      return Error{fmt::format("Tensor {} in {} is none of {}; take a checkpoint of that model alone.", name,
                               weights.files[tensor.file].string(), model)};
  }
  return record::Ok{};
}

}  // namespace

record::Result<Config> read_hugging_face_config(const fs::path& folder) {
  if (const record::Status there = check_folder(folder); !there) return there.error();
  const fs::path file = folder / "config.json";
  const record::Result<json> object = read_json(file);
  if (!object) return object.error();
  ConfigFields fields(object.value());
  Config config{.id = "custom"};
  config.hidden_size = fields.whole("hidden_size");
  config.intermediate_size = fields.whole("intermediate_size");
  config.num_layers = fields.whole("num_hidden_layers");
  config.num_heads = fields.whole("num_attention_heads");
  config.num_kv_heads = fields.whole("num_key_value_heads", config.num_heads);
  config.head_dim = fields.whole("head_dim", config.num_heads > 0 ? config.hidden_size / config.num_heads : 0);
  config.vocab_size = fields.whole("vocab_size");
  config.tie_word_embeddings = fields.flag("tie_word_embeddings", false);
  config.rms_norm_eps = fields.real("rms_norm_eps", 1e-6);
  read_rope(fields, config);
  fields.must_be<std::string>("model_type", fields.text("model_type", "llama"), "llama", "\"llama\"");
  fields.must_be<std::string>("hidden_act", fields.text("hidden_act", "silu"), "silu", "\"silu\"");
  fields.must_be("attention_bias", fields.flag("attention_bias", false), false, "false");
  fields.must_be("mlp_bias", fields.flag("mlp_bias", false), false, "false");
  if (const json* const dropout = fields.find("attention_dropout"); dropout != nullptr && *dropout != 0)
    fields.wrong("attention_dropout", "0: no dropout is computed");
  if (fields.find("quantization_config") != nullptr)
    fields.wrong("quantization_config", "none: weights in F32, F16 or BF16");
  if (!fields.first_wrong().empty())
    return Error{fmt::format("{} has no {}; take a Llama 3 checkpoint in F32, F16 or BF16.", file.string(),
                             fields.first_wrong())};
  if (const record::Status fits = check(config); !fits)
    return Error{fmt::format("{} cannot be used: {}", file.string(), fits.error().message)};
  return config;
}

record::Status check_same(const Config& wanted, const Config& stored, const fs::path& folder) {
  const RopeScaling none{.factor = 1, .low_frequency_factor = 1, .high_frequency_factor = 1, .original_length = 1};
  const RopeScaling a = wanted.rope_scaling.value_or(none), b = stored.rope_scaling.value_or(none);
  struct Pair {
    const char* name;
    double wanted, stored;
  };
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const std::array pairs{
      Pair{"hidden_size", real(wanted.hidden_size), real(stored.hidden_size)},
      Pair{"intermediate_size", real(wanted.intermediate_size), real(stored.intermediate_size)},
      Pair{"num_hidden_layers", real(wanted.num_layers), real(stored.num_layers)},
      Pair{"num_attention_heads", real(wanted.num_heads), real(stored.num_heads)},
      Pair{"num_key_value_heads", real(wanted.num_kv_heads), real(stored.num_kv_heads)},
      Pair{"head_dim", real(wanted.head_dim), real(stored.head_dim)},
      Pair{"vocab_size", real(wanted.vocab_size), real(stored.vocab_size)},
      Pair{"tie_word_embeddings", real(wanted.tie_word_embeddings), real(stored.tie_word_embeddings)},
      Pair{"rms_norm_eps", wanted.rms_norm_eps, stored.rms_norm_eps},
      Pair{"rope_theta", wanted.rope_theta, stored.rope_theta},
      Pair{"rope scaling factor", a.factor, b.factor},
      Pair{"rope scaling low_freq_factor", a.low_frequency_factor, b.low_frequency_factor},
      Pair{"rope scaling high_freq_factor", a.high_frequency_factor, b.high_frequency_factor},
      Pair{"rope scaling original_max_position_embeddings", a.original_length, b.original_length},
  };
  for (const Pair& pair : pairs) {
    if (pair.wanted == pair.stored) continue;
    return Error{
        fmt::format("{} says {} {}, and model={} has {}; take that model's checkpoint, or model=custom, which takes "
                    "its shape from the checkpoint.",
                    (folder / "config.json").string(), pair.name, pair.stored, wanted.id, pair.wanted)};
  }
  return record::Ok{};
}

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
      fmt::format("{} stores an lm_head.weight that is not its embedding, though config.json says that they are "
                  "tied; set tie_word_embeddings to false there, or store the checkpoint without lm_head.weight.",
                  weights.files[b.file].string())};
}

void read_stored(const StoredWeights& weights, const StoredTensor& tensor, std::uint64_t begin,
                 std::span<std::byte> into) {
  const fs::path& file = weights.files[tensor.file];
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(tensor.begin + begin));
  if (!stream.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size())))
    throw FileChanged(fmt::format("{} was changed or cut while its weights were read; start again once it is complete.",
                                  file.string()));
}

}  // namespace headroom::llama
