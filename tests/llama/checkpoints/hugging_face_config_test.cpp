// config.json of a checkpoint: round trips, and refusals by field.
#include <functional>
#include <string>

#include "demos/llama/files/hugging_face.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using nlohmann::json;
using tests::kSmall;
using tests::TemporaryFolder;

std::string config_refusal(const std::function<void(json&)>& change) {
  const TemporaryFolder folder;
  json object = tests::config_json(kSmall);
  change(object);
  tests::write_bytes(folder.path() / "config.json", object.dump());
  const auto config = llama::read_hugging_face_config(folder.path());
  REQUIRE_FALSE(config.ok());
  CHECK(config.error().kind == record::ErrorKind::kBadInput);
  return config.error().message;
}

}  // namespace

TEST_CASE("an unsupported config is refused by its field") {
  CHECK_THAT(config_refusal([](json& c) { c["model_type"] = "gpt2"; }), ContainsSubstring("no model_type"));
  CHECK_THAT(config_refusal([](json& c) { c["hidden_act"] = "gelu"; }), ContainsSubstring("no hidden_act"));
  CHECK_THAT(config_refusal([](json& c) { c["mlp_bias"] = true; }), ContainsSubstring("no mlp_bias"));
  CHECK_THAT(config_refusal([](json& c) { c.erase("hidden_size"); }), ContainsSubstring("no hidden_size"));
  CHECK_THAT(config_refusal([](json& c) { c["vocab_size"] = "many"; }), ContainsSubstring("no vocab_size"));
  CHECK_THAT(config_refusal([](json& c) { c["num_key_value_heads"] = 3; }), ContainsSubstring("not a multiple"));
  CHECK_THAT(config_refusal([](json& c) {
               c["rope_scaling"] = {{"rope_type", "yarn"}};
             }),
             ContainsSubstring("no rope_scaling"));
  CHECK_THAT(config_refusal([](json& c) {
               c["quantization_config"] = {{"bits", 4}};
             }),
             ContainsSubstring("no quantization_config"));
  const TemporaryFolder empty;
  CHECK_THAT(llama::read_hugging_face_config(empty.path()).error().message,
             ContainsSubstring("config.json cannot be read"));
  CHECK_THAT(llama::find_weights(empty.path(), kSmall).error().message,
             ContainsSubstring("model.safetensors is missing"));
  CHECK_THAT(llama::find_weights(empty.path() / "none", kSmall).error().message, ContainsSubstring("is not a folder"));
}

TEST_CASE("the published configs are read back from config.json") {
  for (const llama::Config& published : llama::published_configs()) {
    CAPTURE(published.id);
    const TemporaryFolder folder;
    tests::write_config(folder.path(), published);
    const auto stored = llama::read_hugging_face_config(folder.path());
    REQUIRE(stored.ok());
    CHECK(llama::check_same(published, stored.value(), folder.path()).ok());
    llama::Config other = published;
    other.rope_theta += 1;
    CHECK_FALSE(llama::check_same(other, stored.value(), folder.path()).ok());
    other = published;
    other.rope_scaling = llama::RopeScaling{.factor = 8};
    CHECK_FALSE(llama::check_same(other, stored.value(), folder.path()).ok());
  }
}

TEST_CASE("rope_parameters of newer configs are read") {
  const TemporaryFolder folder;
  json object = tests::config_json(kSmall);
  object.erase("rope_theta");
  object.erase("rope_scaling");
  object["rope_parameters"] = {{"rope_theta", 500000.0}, {"rope_type", "default"}};
  tests::write_bytes(folder.path() / "config.json", object.dump());
  CHECK(llama::read_hugging_face_config(folder.path()).value().rope_theta == 500000);
}
