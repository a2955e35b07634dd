// headroom plan on published models by the closed form, against docs/plan.md.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/record/units.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;

namespace {

const std::filesystem::path kSource = HEADROOM_SOURCE_DIR;

std::string file_of(const std::string& model) { return kSource / "tests" / "data" / "models" / (model + ".json"); }

Ran published_plan(std::vector<std::string> words) {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = "/no/such/engine";
  words.insert(words.begin(), "plan");
  return run_headroom(words, options);
}

json planned(const std::string& file, const std::string& more = "seed=0") {
  const Ran ran = published_plan(
      {"--model", file, "--batch", "1", "--seq", "4096", "--set", "precision=bf16_mixed", "--set", more, "--json"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return json::parse(ran.out)["steps"][0];
}

std::int64_t of(const json& step, const char* category) {
  return step["peak_by_category"][category].get<std::int64_t>();
}

// The page writes "8,030,261,248".
bool on_page(std::int64_t number) {
  static const std::string page = read_file(kSource / "docs" / "plan.md");
  return page.find(record::format_count(number)) != std::string::npos;
}

constexpr std::int64_t kTokens = 4096;

struct Published {
  const char* name;
  std::int64_t parameters, activations, logits;
  std::int64_t gradients_recomputed, activations_recomputed;  // with checkpointing=layer
};
constexpr Published kPublished[] = {
    {"llama-3.2-1b", 1'235'814'400, 7'189'561'344, 6'304'038'912, 0, 335'544'320},
    {"llama-3.1-8b", 8'030'261'248, 26'458'718'208, 6'304'038'912, 16'060'522'496, 33'554'432},
    {"qwen2.5-7b", 7'615'616'512, 25'968'115'712, 7'474'249'728, 15'231'233'024, 29'360'128},
    {"qwen3-8b", 8'190'735'360, 31'886'802'944, 7'467'958'272, 16'381'470'720, 33'554'432},
    {"mistral-7b-v0.3", 7'248'023'552, 26'458'718'208, 1'610'612'736, 13'908'828'160, 1'124'630'528},
};

// Bytes that a layer keeps per token in bf16 with PyTorch's operators (docs/plan.md).
std::int64_t kept_per_token(const json& c) {
  const auto number = [&](const char* key) { return c[key].get<std::int64_t>(); };
  const std::int64_t h = number("hidden_size"), a = number("num_attention_heads"), k = number("num_key_value_heads");
  const std::int64_t d = c.value("head_dim", h / a);
  const std::int64_t head_norms = c["model_type"] == "qwen3" ? (a + k) * (6 * d + 4) : 0;
  return 16 * h + 8 + 4 * (a + k) * d + 4 * a + head_norms + 8 * number("intermediate_size");
}

}  // namespace

TEST_CASE("five published models have the bytes that docs/plan.md works out") {
  for (const Published& model : kPublished) {
    INFO(model.name);
    const json step = planned(file_of(model.name)), config = json::parse(read_file(file_of(model.name)));
    CHECK(step["source"] == "formula");
    CHECK(step["peak_phase"] == "loss");
    CHECK_FALSE(step.contains("assumed"));
    CHECK(step["parameters"] == model.parameters);
    CHECK(of(step, "weights") == 2 * model.parameters);
    CHECK(of(step, "optimizer_state") == 12 * model.parameters);
    CHECK(of(step, "gradients") == 0);
    CHECK(of(step, "activations") == model.activations);
    CHECK(of(step, "logits") == model.logits);
    const std::int64_t layers = config["num_hidden_layers"], hidden = config["hidden_size"];
    CHECK(model.activations == kTokens * (layers * kept_per_token(config) + 8 * hidden));
    CHECK(model.logits == 12 * kTokens * config["vocab_size"].get<std::int64_t>());
    const json again = planned(file_of(model.name), "checkpointing=layer");
    CHECK(of(again, "gradients") == model.gradients_recomputed);
    CHECK(of(again, "activations") == model.activations_recomputed);
    for (const std::int64_t number :
         {model.parameters, 2 * model.parameters, 12 * model.parameters, model.activations, model.logits,
          kept_per_token(config), model.gradients_recomputed, model.activations_recomputed,
          step["peak_bytes"].get<std::int64_t>(), again["peak_bytes"].get<std::int64_t>()}) {
      CAPTURE(number);
      CHECK((number == 0 || on_page(number)));
    }
  }
}

TEST_CASE("Mixtral is planned by the closed form, which says why and what it assumes") {
  constexpr std::int64_t kParameters = 46'702'792'704;
  const Ran text = published_plan({"--model", file_of("mixtral-8x7b"), "--set", "precision=bf16_mixed"});
  CHECK(text.exit_code == 0);
  CHECK(text.err.find("closed form") != std::string::npos);
  CHECK(text.err.find("mixtral is a mixture of 8 experts, which our training step does not support.") !=
        std::string::npos);
  for (const char* const part :
       {"parameters: 46,702,792,704", "evenly to 2 of 8 experts", "76 bytes per token and layer"})
    CHECK(text.out.find(part) != std::string::npos);
  const json step = planned(file_of("mixtral-8x7b"));
  CHECK(step["source"] == "formula");
  CHECK(step["why_formula"].get<std::string>().find("8 experts") != std::string::npos);
  CHECK(step["parameters"] == kParameters);
  CHECK(of(step, "weights") == 2 * kParameters);
  CHECK(of(step, "optimizer_state") == 12 * kParameters);
  CHECK(of(step, "gradients") == 2 * (kParameters - 32'000LL * 4'096));
  CHECK(of(step, "activations") == 336'084'992);
  for (const char* const category : {"weights", "optimizer_state", "gradients", "activations"})
    CHECK(on_page(of(step, category)));
  CHECK(on_page(kParameters));
  const Ran refused =
      published_plan({"--model", file_of("mixtral-8x7b"), "--set", "optimizer_in_backward=on", "accumulate=2"});
  CHECK(refused.exit_code == 3);
  CHECK(refused.out.find("accumulate") != std::string::npos);
  CHECK(refused.err.find("closed form") == std::string::npos);
}

TEST_CASE("a sliding window costs as much as full attention, and no run supports it") {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json";
  json config = json::parse(read_file(file_of("mistral-7b-v0.3")));
  config["sliding_window"] = 4096;
  write_file(file, config.dump());
  const json full = planned(file_of("mistral-7b-v0.3")), window = planned(file);
  CHECK(window["peak_by_category"] == full["peak_by_category"]);
  CHECK(window["why_formula"] ==
        "mistral has a sliding window of 4,096 tokens, which our training step does not "
        "support.");
  CHECK(window["assumed"].size() == 1);
  const Ran ran = run_headroom({"run", "train_step", "--set", "model=custom", "weights=" + file});
  CHECK(ran.exit_code != 0);
  CHECK(ran.err.find("sliding_window") != std::string::npos);
  const Ran experts =
      run_headroom({"run", "train_step", "--set", "model=custom", "weights=" + file_of("mixtral-8x7b")});
  CHECK(experts.exit_code != 0);
  CHECK(experts.err.find("model_type") != std::string::npos);
}

TEST_CASE("a config.json that the closed form does not support is refused by its key, in one line") {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json";
  const auto refused = [&](const json& config, const char* key) {
    write_file(file, config.dump());
    const Ran ran = published_plan({"--model", file});
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(ran.err.find(std::string("has no ") + key) != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  };
  refused({{"model_type", "mixtral"}}, "hidden_size");
  refused({{"model_type", "t5"}, {"is_encoder_decoder", true}}, "is_encoder_decoder");
  refused({{"model_type", "deepseek_v3"}, {"kv_lora_rank", 512}}, "kv_lora_rank");
  refused({{"model_type", "gemma3"}, {"text_config", json::object()}}, "text_config");
  refused({{"model_type", "gpt2"}}, "model_type");
}
