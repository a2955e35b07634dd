// Reads config.json: supported models and their shapes.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "demos/llama/families.h"
#include "demos/llama/files/checkpoint_folder.h"
#include "demos/llama/files/hugging_face.h"

namespace headroom::llama {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

constexpr const char* kReader = "our model";

Family read_family(ConfigFields& fields) {
  const Family* const known = find_family(fields.text("model_type", "llama"));
  if (known != nullptr && known->architecture != nullptr) return *known;
  fields.wrong("model_type", "\"llama\", \"mistral\", \"qwen2\" or \"qwen3\"");
  return {};
}

void refuse_other_parts(ConfigFields& fields, const Family& family) {
  for (const char* const experts : {"num_experts", "num_local_experts", "n_routed_experts"})
    if (fields.find(experts) != nullptr) fields.wrong(experts, "none: every layer has one MLP");
  if (family.window_by_number && fields.find("sliding_window") != nullptr)
    fields.wrong("sliding_window", "null: every token attends to all before it");
  fields.must_be("use_sliding_window", fields.flag("use_sliding_window", false), false,
                 "false: every token attends to all before it");
  const auto is_full = [](const json& layer) { return layer == "full_attention"; };
  if (const json* const layers = fields.find("layer_types");
      layers != nullptr && !std::ranges::all_of(*layers, is_full))
    fields.wrong("layer_types", "\"full_attention\" for every layer");
  fields.must_be<std::string>("hidden_act", fields.text("hidden_act", "silu"), "silu", "\"silu\"");
  if (!family.may_have_bias) fields.must_be("attention_bias", fields.flag("attention_bias", false), false, "false");
  fields.must_be("mlp_bias", fields.flag("mlp_bias", false), false, "false");
  if (const json* const dropout = fields.find("attention_dropout"); dropout != nullptr && *dropout != 0)
    fields.wrong("attention_dropout", "0: no dropout is computed");
  if (fields.find("quantization_config") != nullptr)
    fields.wrong("quantization_config", "none: weights in F32, F16 or BF16");
}

void read_rope(ConfigFields& fields, Config& config) {
  const char* const key = rope_key(fields);
  const json* const object = fields.find(key);
  config.rope_theta = fields.real("rope_theta", 10000);  // the format's default
  if (object == nullptr) return;
  constexpr const char* kSuits =
      "rope_type default, or llama3 with its factor, low_freq_factor, high_freq_factor and "
      "original_max_position_embeddings";
  if (!object->is_object()) return fields.wrong(key, kSuits);
  ConfigFields rope(*object, kReader);
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

}  // namespace

bool is_config_alone(const fs::path& weights) { return weights.extension() == ".json"; }

fs::path model_folder(const fs::path& weights) { return is_config_alone(weights) ? weights.parent_path() : weights; }

record::Result<Config> read_hugging_face_config(const fs::path& weights) {
  const fs::path file = config_file(weights);
  const record::Result<json> object = read_config_file(weights);
  if (!object) return object.error();
  ConfigFields fields(object.value(), kReader);
  const Family family = read_family(fields);
  refuse_other_parts(fields, family);
  Config config = read_shape(fields, family);
  read_rope(fields, config);
  if (!fields.first_wrong().empty())
    return Error{fmt::format("{} has no {}; use a Llama, Mistral, Qwen2 or Qwen3 in F32, F16 or BF16.", file.string(),
                             fields.first_wrong())};
  if (const record::Status fits = check(config); !fits)
    return Error{fmt::format("{} cannot be used: {}", file.string(), fits.error().message)};
  return config;
}

record::Status check_same(const Config& wanted, const Config& stored, const fs::path& weights) {
  const RopeScaling none{.factor = 1, .low_frequency_factor = 1, .high_frequency_factor = 1, .original_length = 1};
  const RopeScaling a = wanted.rope_scaling.value_or(none), b = stored.rope_scaling.value_or(none);
  struct Pair {
    std::string_view name;
    double wanted, stored;
  };
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  std::vector<Pair> pairs;
  for (const ConfigLength& length : kConfigLengths)
    pairs.push_back({length.in_file, real(wanted.*length.value), real(stored.*length.value)});
  pairs.push_back({"tie_word_embeddings", real(wanted.tie_word_embeddings), real(stored.tie_word_embeddings)});
  for (const ConfigPart& part : kConfigParts)
    pairs.push_back({part.words, real(wanted.*part.there), real(stored.*part.there)});
  pairs.insert(
      pairs.end(),
      {Pair{"rms_norm_eps", wanted.rms_norm_eps, stored.rms_norm_eps},
       Pair{"rope_theta", wanted.rope_theta, stored.rope_theta}, Pair{"rope scaling factor", a.factor, b.factor},
       Pair{"rope scaling low_freq_factor", a.low_frequency_factor, b.low_frequency_factor},
       Pair{"rope scaling high_freq_factor", a.high_frequency_factor, b.high_frequency_factor},
       Pair{"rope scaling original_max_position_embeddings", a.original_length, b.original_length}});
  for (const Pair& pair : pairs) {
    if (pair.wanted == pair.stored) continue;
    return Error{
        fmt::format("{} has {} {}, but model={} has {}; use that model's checkpoint, or model=custom, which takes its "
                    "shape from the checkpoint.",
                    config_file(weights).string(), pair.name, pair.stored, wanted.id, pair.wanted)};
  }
  return record::Ok{};
}

}  // namespace headroom::llama
