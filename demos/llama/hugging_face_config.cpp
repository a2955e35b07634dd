// config.json: which models are computed here, and their shapes.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "demos/llama/checkpoint_folder.h"
#include "demos/llama/hugging_face.h"

namespace headroom::llama {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

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
    first_wrong_ = fmt::format("{} that suits a model as it is computed here: it says {}, and what would do is {}", key,
                               has, suits);
  }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  const json& object_;
  std::string first_wrong_;
};

// What a model type has that config.json does not say.
struct ModelType {
  std::string_view name;
  bool may_have_bias = false;  // attention_bias: of q, k, v and o
  bool qkv_bias = false;       // always
  bool qk_norm = false;
  bool window_by_number = false;         // sliding_window alone means that it is used
  std::optional<std::int64_t> head_dim;  // nothing: hidden_size / num_attention_heads
};
constexpr std::array kModelTypes{ModelType{.name = "llama", .may_have_bias = true},
                                 ModelType{.name = "mistral", .window_by_number = true},
                                 ModelType{.name = "qwen2", .qkv_bias = true},
                                 ModelType{.name = "qwen3", .may_have_bias = true, .qk_norm = true, .head_dim = 128}};

ModelType read_model_type(ConfigFields& fields) {
  const std::string name = fields.text("model_type", "llama");
  const auto* const known = std::ranges::find(kModelTypes, name, &ModelType::name);
  if (known != kModelTypes.end()) return *known;
  fields.wrong("model_type", "\"llama\", \"mistral\", \"qwen2\" or \"qwen3\"");
  return {};
}

// What would make it another computation.
void refuse_other_parts(ConfigFields& fields, const ModelType& type) {
  for (const char* const experts : {"num_experts", "num_local_experts", "n_routed_experts"})
    if (fields.find(experts) != nullptr) fields.wrong(experts, "none: every layer has one MLP");
  if (type.window_by_number && fields.find("sliding_window") != nullptr)
    fields.wrong("sliding_window", "null: every token attends to all before it");
  fields.must_be("use_sliding_window", fields.flag("use_sliding_window", false), false,
                 "false: every token attends to all before it");
  const auto is_full = [](const json& layer) { return layer == "full_attention"; };
  if (const json* const layers = fields.find("layer_types");
      layers != nullptr && !std::ranges::all_of(*layers, is_full))
    fields.wrong("layer_types", "\"full_attention\" for every layer");
  fields.must_be<std::string>("hidden_act", fields.text("hidden_act", "silu"), "silu", "\"silu\"");
  if (!type.may_have_bias) fields.must_be("attention_bias", fields.flag("attention_bias", false), false, "false");
  fields.must_be("mlp_bias", fields.flag("mlp_bias", false), false, "false");
  if (const json* const dropout = fields.find("attention_dropout"); dropout != nullptr && *dropout != 0)
    fields.wrong("attention_dropout", "0: no dropout is computed");
  if (fields.find("quantization_config") != nullptr)
    fields.wrong("quantization_config", "none: weights in F32, F16 or BF16");
}

// rope_scaling, or rope_parameters in newer files, which holds rope_theta as well.
void read_rope(ConfigFields& fields, Config& config) {
  const char* const key = fields.find("rope_parameters") != nullptr ? "rope_parameters" : "rope_scaling";
  const json* const object = fields.find(key);
  config.rope_theta = fields.real("rope_theta", 10000);  // of a file that says nothing
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

fs::path config_file(const fs::path& weights) { return is_config_alone(weights) ? weights : weights / "config.json"; }

}  // namespace

bool is_config_alone(const fs::path& weights) { return weights.extension() == ".json"; }

record::Result<Config> read_hugging_face_config(const fs::path& weights) {
  const fs::path file = config_file(weights);
  if (!is_config_alone(weights))
    if (const record::Status there = check_checkpoint_folder(weights); !there) return there.error();
  const record::Result<json> object = read_json_file(file);
  if (!object) return object.error();
  ConfigFields fields(object.value());
  const ModelType type = read_model_type(fields);
  refuse_other_parts(fields, type);
  Config config{.id = "custom"};
  config.hidden_size = fields.whole("hidden_size");
  config.intermediate_size = fields.whole("intermediate_size");
  config.num_layers = fields.whole("num_hidden_layers");
  config.num_heads = fields.whole("num_attention_heads");
  config.num_kv_heads = fields.whole("num_key_value_heads", config.num_heads);
  const std::int64_t even_share = config.num_heads > 0 ? config.hidden_size / config.num_heads : 0;
  config.head_dim = fields.whole("head_dim", type.head_dim.value_or(even_share));
  config.vocab_size = fields.whole("vocab_size");
  config.tie_word_embeddings = fields.flag("tie_word_embeddings", false);
  config.rms_norm_eps = fields.real("rms_norm_eps", 1e-6);
  read_rope(fields, config);
  config.o_bias = type.may_have_bias && fields.flag("attention_bias", false);
  config.qkv_bias = type.qkv_bias || config.o_bias;
  config.qk_norm = type.qk_norm;
  if (!fields.first_wrong().empty())
    return Error{fmt::format("{} has no {}; take a Llama, Mistral, Qwen2 or Qwen3 in F32, F16 or BF16.", file.string(),
                             fields.first_wrong())};
  if (const record::Status fits = check(config); !fits)
    return Error{fmt::format("{} cannot be used: {}", file.string(), fits.error().message)};
  return config;
}

record::Status check_same(const Config& wanted, const Config& stored, const fs::path& weights) {
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
      Pair{"biases of q, k and v", real(wanted.qkv_bias), real(stored.qkv_bias)},
      Pair{"biases of o", real(wanted.o_bias), real(stored.o_bias)},
      Pair{"norms of q and k", real(wanted.qk_norm), real(stored.qk_norm)},
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
                    "its shape from there.",
                    config_file(weights).string(), pair.name, pair.stored, wanted.id, pair.wanted)};
  }
  return record::Ok{};
}

}  // namespace headroom::llama
