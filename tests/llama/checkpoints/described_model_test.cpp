// Models that only the closed form supports. Without torch.
#include "demos/llama/described_model.h"

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "demos/llama/files/hugging_face.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using nlohmann::json;
using tests::TemporaryFolder;

// Sizes as published with Mixtral-8x7B-v0.1, Qwen3-30B-A3B, Qwen1.5-MoE-A2.7B and gemma-2-2b.
json mixtral() {
  return {{"model_type", "mixtral"},      {"hidden_size", 4096},       {"intermediate_size", 14336},
          {"num_hidden_layers", 32},      {"num_attention_heads", 32}, {"num_key_value_heads", 8},
          {"num_local_experts", 8},       {"num_experts_per_tok", 2},  {"vocab_size", 32000},
          {"tie_word_embeddings", false}, {"sliding_window", nullptr}};
}

json qwen3_moe() {
  return {{"model_type", "qwen3_moe"},
          {"hidden_size", 2048},
          {"intermediate_size", 6144},
          {"num_hidden_layers", 48},
          {"num_attention_heads", 32},
          {"num_key_value_heads", 4},
          {"head_dim", 128},
          {"num_experts", 128},
          {"num_experts_per_tok", 8},
          {"moe_intermediate_size", 768},
          {"decoder_sparse_step", 1},
          {"mlp_only_layers", json::array()},
          {"vocab_size", 151936},
          {"tie_word_embeddings", false},
          {"use_sliding_window", false}};
}

json qwen2_moe() {
  return {{"model_type", "qwen2_moe"},
          {"hidden_size", 2048},
          {"intermediate_size", 5632},
          {"num_hidden_layers", 24},
          {"num_attention_heads", 16},
          {"num_key_value_heads", 16},
          {"num_experts", 60},
          {"num_experts_per_tok", 4},
          {"moe_intermediate_size", 1408},
          {"shared_expert_intermediate_size", 5632},
          {"decoder_sparse_step", 1},
          {"vocab_size", 151936},
          {"tie_word_embeddings", false},
          {"use_sliding_window", false}};
}

json gemma2() {
  return {{"model_type", "gemma2"},
          {"hidden_size", 2304},
          {"intermediate_size", 9216},
          {"num_hidden_layers", 26},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 4},
          {"head_dim", 256},
          {"sliding_window", 4096},
          {"hidden_activation", "gelu_pytorch_tanh"},
          {"vocab_size", 256000},
          {"final_logit_softcapping", 30.0}};
}

json with(json object, const json& changes) {
  object.update(changes);
  return object;
}

template <class Reader>
auto read(const Reader& reader, const json& object) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "config.json";
  tests::write_bytes(file, object.dump());
  return reader(file);
}

llama::DescribedModel described(const json& object) {
  CHECK_FALSE(read(llama::read_hugging_face_config, object).ok());  // no run supports it
  auto model = read(llama::read_described_model, object);
  if (!model) FAIL(model.error().message);
  CHECK_FALSE(model.value().beyond_step.empty());
  return model.value();
}

std::int64_t parameters(const llama::DescribedModel& model) {
  return llama::num_parameters(model.config, model.extension);
}

void refused(const json& object, const std::string& key) {
  const auto model = read(llama::read_described_model, object);
  CAPTURE(object.dump(), key);
  REQUIRE_FALSE(model.ok());
  INFO(model.error().message);
  CHECK(model.error().message.find("has no " + key + " that the closed form supports") != std::string::npos);
  CHECK(model.error().message.find(". ") == std::string::npos);  // one sentence
}

}  // namespace

TEST_CASE("mixtures of experts have their published numbers of parameters") {
  const llama::DescribedModel eight = described(mixtral()), many = described(qwen3_moe());
  CHECK(parameters(eight) == 46'702'792'704);
  CHECK(eight.beyond_step == "mixtral is a mixture of 8 experts, which our training step does not support.");
  // 48 · (2 · 2,048 · 4,096 + 2 · 2,048 · 512 + 128 · 3 · 2,048 · 768 + 128 · 2,048 + 2 · 2,048 + 2 · 128)
  // + 2 · 151,936 · 2,048 + 2,048.
  CHECK(parameters(many) == 30'532'122'624);
  CHECK(many.extension.experts->per_token == 8);
  const llama::DescribedModel shared = described(qwen2_moe());
  CHECK(parameters(shared) == 14'315'784'192);
  CHECK(shared.extension.experts->shared_size == 5632);
}

TEST_CASE("some layers may have a plain MLP instead of experts") {
  CHECK(described(with(qwen3_moe(), {{"decoder_sparse_step", 2}})).extension.experts->layers == 24);
  const llama::DescribedModel some = described(with(qwen3_moe(), {{"mlp_only_layers", {0, 47}}}));
  CHECK(some.extension.experts->layers == 46);
  CHECK(some.assumed.size() == 1);
  const std::int64_t experts = 128LL * 3 * 2048 * 768 + 128 * 2048, plain = 3LL * 2048 * 6144;
  CHECK(parameters(some) == 30'532'122'624 - 2 * (experts - plain));
}

TEST_CASE("differences in windows, gates, norms, caps and positions are named") {
  const llama::DescribedModel gemma = described(gemma2());
  CHECK(parameters(gemma) == 2'614'341'888);
  CHECK(gemma.beyond_step ==
        "gemma2 has a sliding window of 4,096 tokens, gelu_pytorch_tanh in its MLP, norms after attention and the MLP "
        "and a cap on its logits, which our training step does not support.");
  CHECK(gemma.left_out.size() == 1);
  const auto why = [](const json& changes) {
    json llama{{"model_type", "llama"},  {"hidden_size", 64},        {"intermediate_size", 96},
               {"num_hidden_layers", 2}, {"num_attention_heads", 4}, {"vocab_size", 256}};
    llama.update(changes);
    return described(llama).beyond_step;
  };
  CHECK(why({{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}}}).find("llama has positions by yarn,") == 0);
  CHECK(why({{"mlp_bias", true}}).find("llama has biases in its MLP,") == 0);
  CHECK(why({{"attention_dropout", 0.1}}).find("llama has dropout in attention,") == 0);
  CHECK(why({{"quantization_config", {{"bits", 4}}}}).find("llama has quantized weights,") == 0);
  CHECK(why({{"use_sliding_window", true}, {"sliding_window", 32}}).find("window of 32 tokens") != std::string::npos);
  CHECK(described(with(mixtral(), {{"sliding_window", 4096}}))
            .beyond_step.find("8 experts and has a sliding window of 4,096 tokens") != std::string::npos);
}

TEST_CASE("a model that the step supports is described without differences") {
  const json plain = tests::config_json(tests::kSmall);
  const auto model = read(llama::read_described_model, plain);
  REQUIRE(model.ok());
  CHECK(model.value().beyond_step.empty());
  CHECK_FALSE(model.value().extension.experts.has_value());
  CHECK(parameters(model.value()) == llama::num_parameters(tests::kSmall));
}

TEST_CASE("a model that is not a decoder of attention and gated MLPs is refused by the key that differs") {
  refused(with(mixtral(), {{"hidden_size", nullptr}}), "hidden_size");
  refused(with(mixtral(), {{"is_encoder_decoder", true}}), "is_encoder_decoder");
  refused(with(mixtral(), {{"vision_config", json::object()}}), "vision_config");
  refused(with(mixtral(), {{"model_type", "deepseek_v3"}, {"kv_lora_rank", 512}}), "kv_lora_rank");
  refused(with(mixtral(), {{"model_type", "qwen3_next"}}), "model_type");
  refused(with(mixtral(), {{"num_local_experts", nullptr}}), "num_local_experts");
  refused(with(mixtral(), {{"num_experts_per_tok", 9}}), "num_experts_per_tok");
  refused(with(mixtral(), {{"n_routed_experts", 64}}), "n_routed_experts");
  refused(with(mixtral(), {{"model_type", "mistral"}}), "num_local_experts");
  refused(with(mixtral(), {{"layer_types", {"full_attention", "linear_attention"}}}), "layer_types");
  refused(with(mixtral(), {{"hidden_act", "maxout"}}), "hidden_act");
  refused(with(qwen3_moe(), {{"decoder_sparse_step", 0}}), "decoder_sparse_step");
  refused(with(qwen3_moe(), {{"moe_intermediate_size", 1LL << 50}}), "hidden_size");
}
