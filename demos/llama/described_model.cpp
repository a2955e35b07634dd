// Reads models whose bytes are known, even if the step cannot run them.
#include "demos/llama/described_model.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "demos/llama/families.h"
#include "demos/llama/files/checkpoint_folder.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/record/units.h"

namespace headroom::llama {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;

constexpr const char* kClosedFormReader = "the closed form";

class DescriptionReader {
 public:
  DescriptionReader(const json& object, DescribedModel& model) : fields_(object, kClosedFormReader), model_(model) {}

  void read() {
    refuse_other_structures();
    const Family family = read_family();
    model_.config = read_shape(fields_, family);
    read_experts(family);
    read_window(family);
    read_mlp(family);
    read_attention(family);
    read_positions();
    if (fields_.find("quantization_config") != nullptr) {
      has_.emplace_back("quantized weights");
      model_.assumed.emplace_back("weights use the step's number format, not that of quantization_config");
    }
    if (!countable()) fields_.wrong("hidden_size", "fewer than 10^13 parameters in all");
    if (!is_.empty() || !has_.empty())
      model_.beyond_step = differences(family.type) + ", which our training step does not support.";
  }
  const std::string& first_wrong() const { return fields_.first_wrong(); }

 private:
  // "gemma has gelu in its MLP, biases in attention and a cap on its logits"
  std::string differences(std::string_view type) const {
    std::string has;
    for (std::size_t i = 0; i < has_.size(); ++i)
      has += (i == 0 ? "has " : i + 1 == has_.size() ? " and " : ", ") + has_[i];
    return fmt::format("{} {}{}{}", type, is_, is_.empty() || has.empty() ? "" : " and ", has);
  }

  void refuse_other_structures() {
    if (fields_.flag("is_encoder_decoder", false)) fields_.wrong("is_encoder_decoder", "false: a decoder alone");
    for (const char* const part : {"text_config", "vision_config", "audio_config"})
      if (fields_.find(part) != nullptr) fields_.wrong(part, "none: one model of text");
    for (const char* const latent : {"kv_lora_rank", "q_lora_rank"})
      if (fields_.find(latent) != nullptr) fields_.wrong(latent, "none: latent attention is not supported");
  }

  Family read_family() {
    if (const Family* const known = find_family(fields_.text("model_type", "llama"))) return *known;
    std::string names;
    for (const Family& each : kFamilies) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", each.type);
    fields_.wrong("model_type", "one of " + names);
    return {};
  }

  void read_experts(const Family& family) {
    for (const char* const key : {"num_experts", "num_local_experts", "n_routed_experts"})
      if (fields_.find(key) != nullptr &&
          (family.experts.count == nullptr || key != std::string_view(family.experts.count)))
        fields_.wrong(key, "none in a model of this model_type");
    if (family.experts.count == nullptr) return;
    Experts experts{.layers = sparse_layers(),
                    .count = fields_.whole(family.experts.count),
                    .per_token = fields_.whole("num_experts_per_tok"),
                    .size = fields_.whole(family.experts.size)};
    if (family.experts.shared_size != nullptr) experts.shared_size = fields_.whole(family.experts.shared_size);
    if (experts.count < 1) fields_.wrong(family.experts.count, "1 or more");
    if (experts.per_token < 1 || experts.per_token > experts.count)
      fields_.wrong("num_experts_per_tok", fmt::format("1 to {}", experts.count));
    if (experts.size < 1) fields_.wrong(family.experts.size, "1 or more");
    if (experts.shared_size < 0) fields_.wrong(family.experts.shared_size, "0 or more");
    if (experts.layers == 0) return;
    model_.extension.experts = experts;
    is_ = fmt::format("is a mixture of {} experts", record::format_count(experts.count));
    if (experts.layers < model_.config.num_layers)
      model_.assumed.push_back(fmt::format("{} of {} layers have experts; every layer is counted as the average",
                                           experts.layers, model_.config.num_layers));
  }

  // With decoder_sparse_step s, layers s, 2 s, … (counted from 1) have experts, except those in mlp_only_layers
  // (counted from 0).
  std::int64_t sparse_layers() {
    const std::int64_t step = fields_.whole("decoder_sparse_step", 1);
    if (step < 1) return fields_.wrong("decoder_sparse_step", "1 or more"), 0;
    const json* const plain = fields_.find("mlp_only_layers");
    if (plain != nullptr && !plain->is_array()) return fields_.wrong("mlp_only_layers", "a list of layers"), 0;
    const std::int64_t layers = std::clamp<std::int64_t>(model_.config.num_layers, 0, kMostLayers);
    std::int64_t sparse = 0;
    for (std::int64_t i = 0; i < layers; ++i) {
      const bool is_plain = plain != nullptr && std::ranges::find(*plain, json(i)) != plain->end();
      if (!is_plain && (i + 1) % step == 0) ++sparse;
    }
    return sparse;
  }

  // Flash attention skips blocks of keys outside the window but keeps the same tensors.
  void read_window(const Family& family) {
    const json* const layers = fields_.find("layer_types");
    bool has_window = fields_.flag("use_sliding_window", false) ||
                      (family.window_by_number && fields_.find("sliding_window") != nullptr);
    if (layers != nullptr) {
      const auto known = [](const json& layer) { return layer == "full_attention" || layer == "sliding_attention"; };
      if (!std::ranges::all_of(*layers, known))
        return fields_.wrong("layer_types", "\"full_attention\" or \"sliding_attention\" for every layer");
      has_window = std::ranges::find(*layers, json("sliding_attention")) != layers->end();
    }
    if (!has_window) return;
    has_.push_back(fmt::format("a sliding window of {} tokens", record::format_count(fields_.whole("sliding_window"))));
    model_.assumed.emplace_back("the attention kernel applies the window and keeps the same tensors as full attention");
  }

  void read_mlp(const Family& family) {
    constexpr std::array kPointwise{"silu", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu", "relu"};
    const std::string activation =
        fields_.text("hidden_activation", fields_.text("hidden_act", family.activation).c_str());
    if (std::ranges::find(kPointwise, activation) == kPointwise.end())
      fields_.wrong("hidden_act", "an elementwise function such as silu or gelu");
    if (activation != "silu") {
      has_.push_back(activation + " in its MLP");
      model_.assumed.push_back(activation + " keeps the same tensors as silu");
    }
    if (fields_.flag("mlp_bias", false)) {
      model_.extension.mlp_bias = true;
      has_.emplace_back("biases in its MLP");
    }
    if (!family.post_norms) return;
    model_.extension.post_norms = true;
    has_.emplace_back("norms after attention and the MLP");
  }

  void read_attention(const Family& family) {
    if (!family.may_have_bias && fields_.flag("attention_bias", false)) fields_.wrong("attention_bias", "false");
    if (const json* const dropout = fields_.find("attention_dropout"); dropout != nullptr && *dropout != 0) {
      has_.emplace_back("dropout in attention");
      model_.assumed.emplace_back("flash attention regenerates its dropout in backward and keeps no mask");
    }
    if (fields_.find("attn_logit_softcapping") != nullptr) {
      has_.emplace_back("a cap on attention's scores");
      model_.assumed.emplace_back("the attention kernel caps its scores and keeps none of them");
    }
    if (fields_.find("final_logit_softcapping") != nullptr) {
      has_.emplace_back("a cap on its logits");
      model_.left_out.emplace_back("the cap on the logits, which keeps one more tensor of logits");
    }
    if (family.type == "phi3") {
      has_.emplace_back("merged projections");
      model_.assumed.emplace_back("queries, keys and values are separate matrices, as are gate and up");
    }
  }

  // RoPE's tables take the same bytes whatever the scaling.
  void read_positions() {
    const char* const key = rope_key(fields_);
    const json* const object = fields_.find(key);
    if (object == nullptr) return;
    if (!object->is_object()) return fields_.wrong(key, "an object with a rope_type");
    ConfigFields rope(*object, kClosedFormReader);
    const std::string type = rope.text("rope_type", rope.text("type", "default").c_str());
    if (type != "default" && type != "llama3") has_.push_back("positions by " + type);
  }

  // True if all byte counts fit in 64 bits.
  bool countable() const {
    constexpr double kMost = 1e13, kNarrow = 4096;
    const Config& c = model_.config;
    const Experts experts = model_.extension.experts.value_or(Experts{});
    const auto real = [](std::int64_t number) { return static_cast<double>(number); };
    const double mlp =
        3 * (real(c.intermediate_size) + real(experts.count) * real(experts.size) + real(experts.shared_size));
    const double attention = 4 * real(std::max(c.num_heads, c.num_kv_heads)) * real(c.head_dim);
    return std::max(real(c.hidden_size), kNarrow) * (real(c.num_layers) * (mlp + attention) + 2 * real(c.vocab_size)) <
           kMost;
  }

  static constexpr std::int64_t kMostLayers = 100'000;
  ConfigFields fields_;
  DescribedModel& model_;
  std::string is_;  // "is a mixture of 8 experts"
  std::vector<std::string> has_;
};

}  // namespace

record::Result<DescribedModel> read_described_model(const fs::path& weights) {
  DescribedModel model;
  if (const auto config = read_hugging_face_config(weights)) {
    model.config = config.value();
    return model;
  }
  const record::Result<json> object = read_config_file(weights);
  if (!object) return object.error();
  const std::string file = config_file(weights).string();
  DescriptionReader reader(object.value(), model);
  reader.read();
  if (!reader.first_wrong().empty())
    return Error{fmt::format("{} has no {}; use a Llama-like model.", file, reader.first_wrong())};
  if (const record::Status fits = check(model.config); !fits)
    return Error{fmt::format("{} cannot be used: {}", file, fits.error().message)};
  if (model.beyond_step.empty()) return read_hugging_face_config(weights).error();
  return model;
}

}  // namespace headroom::llama
