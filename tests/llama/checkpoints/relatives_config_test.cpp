// config.json of Qwen2, Qwen3 and Mistral, with a checkpoint or alone. Without torch.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "demos/llama/files/hugging_face.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using nlohmann::json;
using tests::TemporaryFolder;

// The files published with Qwen2-0.5B and Qwen3-0.6B-Base.
json qwen2() {
  return {{"architectures", {"Qwen2ForCausalLM"}},
          {"attention_dropout", 0.0},
          {"hidden_act", "silu"},
          {"hidden_size", 896},
          {"intermediate_size", 4864},
          {"max_position_embeddings", 131072},
          {"max_window_layers", 24},
          {"model_type", "qwen2"},
          {"num_attention_heads", 14},
          {"num_hidden_layers", 24},
          {"num_key_value_heads", 2},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 1000000.0},
          {"sliding_window", 131072},
          {"tie_word_embeddings", true},
          {"use_sliding_window", false},
          {"vocab_size", 151936}};
}

json qwen3() {
  return {{"architectures", {"Qwen3ForCausalLM"}},
          {"attention_bias", false},
          {"attention_dropout", 0.0},
          {"head_dim", 128},
          {"hidden_act", "silu"},
          {"hidden_size", 1024},
          {"intermediate_size", 3072},
          {"max_window_layers", 28},
          {"model_type", "qwen3"},
          {"num_attention_heads", 16},
          {"num_hidden_layers", 28},
          {"num_key_value_heads", 8},
          {"rms_norm_eps", 1e-6},
          {"rope_scaling", nullptr},
          {"rope_theta", 1000000},
          {"sliding_window", nullptr},
          {"tie_word_embeddings", true},
          {"use_sliding_window", false},
          {"vocab_size", 151936}};
}

json with(json object, const char* key, const json& value) {
  object[key] = value;
  return object;
}

record::Result<llama::Config> read(const json& object) {
  const TemporaryFolder folder;
  tests::write_bytes(folder.path() / "config.json", object.dump());
  return llama::read_hugging_face_config(folder.path());
}

llama::Config config_of(const json& object) {
  auto config = read(object);
  if (!config) FAIL(config.error().message);
  return config.value();
}

void config_refused(const json& object, const std::string& part) {
  const auto config = read(object);
  CAPTURE(object.dump(), part);
  REQUIRE_FALSE(config.ok());
  INFO(config.error().message);
  CHECK(config.error().kind == record::ErrorKind::kBadInput);
  CHECK(config.error().message.find(part) != std::string::npos);
  CHECK(config.error().message.find(". ") == std::string::npos);  // one sentence
}

std::int64_t numbers_of(const llama::Config& config) {
  std::int64_t sum = 0;
  for (const llama::WeightShape& weight : llama::weight_shapes(config)) {
    std::int64_t numbers = 1;
    for (const std::int64_t length : weight.shape) numbers *= length;
    sum += numbers;
  }
  return sum;
}

}  // namespace

TEST_CASE("Qwen2 0.5B and Qwen3 0.6B have their published numbers of parameters") {
  const llama::Config two = config_of(qwen2()), three = config_of(qwen3());
  CHECK(llama::num_parameters(two) == 494'032'768);
  CHECK(llama::num_parameters(three) == 596'049'920);
  CHECK(numbers_of(two) == 494'032'768);
  CHECK(numbers_of(three) == 596'049'920);
  CHECK((two.qkv_bias && !two.o_bias && !two.qk_norm));
  CHECK((!three.qkv_bias && !three.o_bias && three.qk_norm));
  CHECK(two.head_dim == 64);
  CHECK(two.rope_theta == 1e6);
  CHECK(two.rms_norm_eps == 1e-6);
}

TEST_CASE("missing values of config.json come from the model type") {
  json object = qwen3();
  for (const char* key : {"head_dim", "rms_norm_eps", "rope_theta", "tie_word_embeddings"}) object.erase(key);
  const llama::Config config = config_of(object);
  CHECK(config.head_dim == 128);  // Qwen3's; Llama's heads would have 64
  CHECK(config.rms_norm_eps == 1e-6);
  CHECK(config.rope_theta == 10000);
  CHECK_FALSE(config.tie_word_embeddings);
}

TEST_CASE("biases of attention follow the model type and attention_bias") {
  const llama::Config plain = config_of(tests::config_json(tests::kSmall));
  CHECK((!plain.qkv_bias && !plain.o_bias));
  const llama::Config biased = config_of(with(tests::config_json(tests::kSmall), "attention_bias", true));
  CHECK((biased.qkv_bias && biased.o_bias && !biased.qk_norm));
  CHECK(numbers_of(biased) == llama::num_parameters(biased));
  // Biases of two layers, each with 2 · 8 for queries, 2 · 8 for keys and values together, 16 for the output.
  CHECK(llama::num_parameters(biased) == llama::num_parameters(plain) + 2 * (16 + 2 * 8 + 16));
  const llama::Config both = config_of(with(qwen3(), "attention_bias", true));
  CHECK((both.qkv_bias && both.o_bias && both.qk_norm));
  config_refused(with(qwen2(), "attention_bias", true), "no attention_bias");
  const auto same = llama::check_same(plain, biased, "folder");
  REQUIRE_FALSE(same.ok());
  CHECK(same.error().message.find("folder/config.json has biases of q, k and v 1") == 0);
}

TEST_CASE("windows, experts and other model types are refused by name") {
  const json mistral =
      with(with(tests::config_json(tests::kSmall), "model_type", "mistral"), "sliding_window", nullptr);
  CHECK(read(mistral).ok());
  config_refused(with(mistral, "sliding_window", 4096), "no sliding_window that our model supports");
  config_refused(with(mistral, "sliding_window", 4096), "the file has 4096");
  config_refused(with(mistral, "attention_bias", true), "no attention_bias");
  config_refused(with(qwen2(), "use_sliding_window", true), "no use_sliding_window that our model supports");
  config_refused(with(qwen3(), "use_sliding_window", true), "no use_sliding_window that our model supports");
  config_refused(with(qwen3(), "layer_types", {"full_attention", "sliding_attention"}),
                 "no layer_types that our "
                 "model supports");
  CHECK(read(with(qwen3(), "layer_types", {"full_attention", "full_attention"})).ok());
  config_refused(with(qwen3(), "num_experts", 128), "no num_experts that our model supports");
  config_refused(with(mistral, "num_local_experts", 8), "no num_local_experts that our model supports");
  config_refused(with(qwen3(), "model_type", "qwen3_moe"), "no model_type that our model supports");
  config_refused(with(qwen3(), "model_type", "gemma2"), R"(the file has "gemma2", but it must be "llama", "mistral")");
  config_refused(with(qwen2(), "rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}),
                 "no rope_scaling that our "
                 "model supports");
}

TEST_CASE("a config.json is read the same alone and in its folder") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "config.json";
  CHECK(llama::is_config_alone(file));
  CHECK_FALSE(llama::is_config_alone(folder.path()));
  CHECK(llama::read_hugging_face_config(file).error().message.find("cannot be read") != std::string::npos);
  tests::write_bytes(file, qwen3().dump());
  const auto alone = llama::read_hugging_face_config(file), inside = llama::read_hugging_face_config(folder.path());
  REQUIRE((alone.ok() && inside.ok()));
  CHECK(llama::num_parameters(alone.value()) == 596'049'920);
  CHECK(llama::check_same(inside.value(), alone.value(), file).ok());
  const auto other = llama::check_same(*llama::find_config("tiny"), alone.value(), file);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find(file.string() + " has hidden_size 1024, but model=tiny has 256") == 0);
  tests::write_bytes(file, "[1, 2]");
  CHECK(llama::read_hugging_face_config(file).error().message.find("is JSON, but not an object") != std::string::npos);
}
