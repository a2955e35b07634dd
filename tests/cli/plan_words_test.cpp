// Output of `headroom plan` and `headroom advise`: model, card, unit, accuracy. The closed form needs no engine.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/record/units.h"
#include "lessons/wording.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;

namespace {

Ran headroom_without_engine(std::vector<std::string> words) {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = "/no/such/engine";
  return run_headroom(words, options);
}

Ran plan(std::vector<std::string> words) {
  words.insert(words.begin(), "plan");
  return headroom_without_engine(std::move(words));
}

json step_of(std::vector<std::string> words) {
  words.emplace_back("--json");
  const Ran ran = plan(std::move(words));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return json::parse(ran.out)["steps"][0];
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// 70 billion parameters in 80 layers.
std::string large_model(const TemporaryFolder& folder) {
  const json config{{"model_type", "llama"},       {"hidden_size", 8192},       {"intermediate_size", 28672},
                    {"num_hidden_layers", 80},     {"num_attention_heads", 64}, {"num_key_value_heads", 8},
                    {"vocab_size", 128256},        {"rms_norm_eps", 1e-5},      {"hidden_act", "silu"},
                    {"tie_word_embeddings", false}};
  std::string file = folder / "config.json";
  write_file(file, config.dump());
  return file;
}

const std::vector<std::string> kSmall{"--model", "tiny", "--seq", "64", "--card"};

std::vector<std::string> on_card(const std::string& card) {
  std::vector<std::string> words = kSmall;
  words.push_back(card);
  return words;
}

}  // namespace

TEST_CASE("the title and the JSON of a plan have the dimensions of the file's model") {
  const TemporaryFolder folder;
  const std::string file = large_model(folder);
  const std::vector<std::string> words{"--model", file, "--batch", "1", "--seq", "4096", "--set", "precision=bf16"};
  CHECK(contains(plan(words).out, "Custom, 80 layers, hidden size 8,192, bf16"));
  const json params = step_of(words)["params"];
  CHECK(params["num_layers"] == 80);
  CHECK(params["hidden_size"] == 8192);
  CHECK(params["intermediate_size"] == 28672);
  CHECK(params["vocab_size"] == 128256);
  CHECK(params["head_dim"] == 128);
  CHECK(params["batch"] == 1);
  CHECK(params["weights"] == file);
  // No run supports this model.
  const std::string experts = std::string(HEADROOM_SOURCE_DIR) + "/tests/data/models/mixtral-8x7b.json";
  CHECK(contains(plan({"--model", experts, "--seq", "128"}).out, "Custom, 32 layers, hidden size 4,096"));
  CHECK(step_of({"--model", experts, "--seq", "128"})["params"]["num_layers"] == 32);
}

TEST_CASE("a line of settings omits the dimensions of a config.json that was not read") {
  const record::RunInfo info{
      .demo = "train_step",
      .params = {{"model", "custom"}, {"weights", "there/config.json"}, {"num_layers", "4"}, {"hidden_size", "256"}}};
  CHECK(lessons::settings_line(info) == "Custom");
}

TEST_CASE("the JSON of a plan has the dimensions of a named model, numbers as numbers, and choices as typed") {
  const json params = step_of({"--model", "llama-3.2-1b", "--seq", "1024", "--set", "precision=bf16"})["params"];
  CHECK(params["model"] == "llama-3.2-1b");
  CHECK(params["hidden_size"] == 2048);
  CHECK(params["num_layers"] == 16);
  CHECK(params["vocab_size"] == 128256);
  CHECK(params["seq"] == 1024);
  CHECK(params["learning_rate"] == 1e-3);
  CHECK(params["precision"] == "bf16");
  CHECK(params["optimizer_in_backward"] == "off");
  const json own = step_of({"--model", "custom", "--set", "num_layers=3", "hidden_size=128"})["params"];
  CHECK(own["num_layers"] == 3);
  CHECK(own["hidden_size"] == 128);
  CHECK(own["vocab_size"] == 4096);
}

TEST_CASE("the title of a plan names the active techniques") {
  const Ran ran =
      plan({"--model", "tiny", "--set", "precision=bf16", "checkpointing=layer", "adapters=lora", "loss=flce"});
  CHECK(contains(ran.out, "Tiny, 4 M, bf16, checkpointing each layer, loss=flce, adapters=lora\n"));
}

TEST_CASE("the refusal of a wrong config.json says what the file is and how to get the right one") {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json";
  const auto said = [&](const std::string& content) {
    write_file(file, content);
    const Ran ran = plan({"--model", file, "--seq", "128"});
    CHECK(ran.exit_code == 2);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    return ran.err;
  };
  CHECK(contains(said("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 700\n"), "git lfs pull"));
  CHECK(contains(said("<!doctype html><title>Sign in</title>\n"), "is a web page"));
  CHECK(contains(said(std::string("\xFF\xFE{\0\"\0", 6)), "save it as UTF-8"));
  CHECK(contains(said(" \n"), "is empty"));
  CHECK(contains(said("{\"hidden_size\": 8,"), "is truncated"));
  CHECK(contains(said("{\n \"hidden_size\": 8,\n \"vocab_size\": 9O,\n \"a\": 1}"), "in line 3: "));
  CHECK(contains(said("[1, 2]"), "but not an object"));
  CHECK(contains(said(std::string(300, '[')), "is nested 300 levels deep"));
}

TEST_CASE("a config.json written by Python is read: bare Infinity and NaN, and nested values that no plan needs") {
  const TemporaryFolder folder;
  const std::string file = large_model(folder);
  const json plain = step_of({"--model", file, "--seq", "128"});
  std::string text = read_file(file);
  std::string nested = "1";
  for (int level = 0; level < 40; ++level) nested = "{\"a\": " + nested + "}";
  text.replace(text.rfind('}'), 1,
               ", \"time_step_limit\": [0.0, Infinity, -Infinity, NaN], \"words\": \"NaN \\\" Infinity\", \"extra\": " +
                   nested + "}");
  write_file(file, text);
  CHECK(step_of({"--model", file, "--seq", "128"}) == plain);
}

TEST_CASE("a card is found by any usual spelling, and never by a part of another name") {
  const auto check = [](const char* words, const char* name, std::int64_t mib) {
    CAPTURE(words);
    const json card = step_of(on_card(words))["cards"][0];
    CHECK(card["card"] == name);
    CHECK(card["memory_bytes"] == mib * record::kMiB);
  };
  check("rtx4090", "GeForce RTX 4090", 24564);
  check("NVIDIA A100 80GB PCIe", "A100 80 GB PCIe", 81920);
  check("A100 80GB", "A100 80 GB", 81920);  // either variant
  check("H100", "H100 80 GB", 81559);
  check("H20", "H20", 97871);
  check("L40", "L40", 46068);
  check("3090 Ti", "GeForce RTX 3090 Ti", 24564);
  check("T4", "T4", 15360);
  check("24GiB", "24.00 GiB", 24576);
  const json decimal = step_of(on_card("24GB"))["cards"][0];
  CHECK(decimal["card"] == "24GB (22.35 GiB)");
  CHECK(decimal["memory_bytes"] == 24'000'000'000);
}

TEST_CASE("an unknown card is refused with a correct example") {
  const auto refused = [](const char* card) {
    const Ran ran = plan(on_card(card));
    CHECK(ran.exit_code == 2);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    return ran.err;
  };
  const std::string bare = refused("24");
  CHECK(contains(bare, "24GiB"));
  CHECK(contains(bare, "24B"));
  CHECK(contains(refused("V100"), "V100 16 GB and V100 32 GB"));
  CHECK(contains(refused("A100"), "A100 40 GB and A100 80 GB"));
  CHECK(contains(refused("RTX 6000"), "the nearest are RTX 6000 Ada and RTX PRO 6000 Blackwell"));
  CHECK(contains(refused("RTX 4090 Laptop"), "the nearest is GeForce RTX 4090"));
}

TEST_CASE("defaults that decide the size of a step are reported") {
  const std::string said = plan({"--model", "llama-3-8b"}).err;
  CHECK(contains(said, "Defaults used: precision=fp32 batch=4 seq=256."));
  const std::string named = plan({"--model", "tiny", "--batch", "1", "--set", "precision=bf16", "seq=64"}).err;
  CHECK_FALSE(contains(named, "Taken"));
  CHECK(contains(plan({"--model", "tiny", "--batch", "1"}).err, "Defaults used: precision=fp32 seq=256."));
}

TEST_CASE("an unknown model is refused with the values that --model accepts") {
  const Ran ran = plan({"--model", "meta-llama/Meta-Llama-3-8B"});
  CHECK(ran.exit_code == 2);
  CHECK(contains(ran.err, "There is no file or folder meta-llama/Meta-Llama-3-8B"));
  CHECK(contains(plan({"--model", "llama3-8b"}).err, "llama-3-8b"));
}

TEST_CASE("a card that no run can use is planned for, with a message") {
  CHECK(contains(plan(on_card("T4")).err, "T4 has compute capability 7.5"));
  CHECK_FALSE(contains(plan(on_card("RTX 4090")).err, "compute capability"));
}

TEST_CASE("plan and advise compare a step with the same number of the card") {
  const std::vector<std::string> step{"--model", "llama-3-8b", "--batch", "1", "--seq", "2048", "--card", "RTX 4090"};
  // 24,564 MiB less 0.7 GiB.
  const std::int64_t usable = 24'564 * record::kMiB - 7 * record::kGiB / 10;
  CHECK(step_of(step)["cards"][0]["usable_bytes"] == usable);
  CHECK(contains(plan(step).out, "23.29 GiB"));
  std::vector<std::string> asked = step;
  asked.insert(asked.begin(), "advise");
  const Ran text = headroom_without_engine(asked);
  CHECK(contains(text.out, "GeForce RTX 4090 leaves 23.29 GiB ± 0.300 GiB for it"));
  CHECK_FALSE(contains(text.out, "with the process"));
  asked.emplace_back("--json");
  const json advice = json::parse(headroom_without_engine(asked).out);
  CHECK(advice["usable_bytes"] == usable);
  CHECK(advice["bytes_before"] == step_of(step)["cards"][0]["reserved_bytes"]);
  if (advice["verdict"] == "fits") CHECK(advice["sets"][0]["switches"].back()["bytes_after"] <= usable);
}

TEST_CASE("a plan's table has one unit, with the digits of its smallest card") {
  const TemporaryFolder folder;
  const Ran ran = plan({"--model", large_model(folder), "--card", "RTX 4090", "--batch", "1", "--seq", "4096"});
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.out, "23.29 GiB"));
  CHECK(contains(ran.out, "0.700 GiB"));
  CHECK_FALSE(contains(ran.out, "TiB"));
  CHECK_FALSE(contains(ran.out, " B "));
}

TEST_CASE("a plan for other code states the measured difference for these techniques, or that nothing was compared") {
  const auto said = [](const char* code, std::vector<std::string> settings) {
    std::vector<std::string> words{"--model", "llama-3.2-1b", "--seq", "1024",
                                   "--code",  code,           "--set", "precision=bf16"};
    for (std::string& setting : settings) words.push_back(std::move(setting));
    const Ran ran = plan(words);
    CHECK(ran.exit_code == 0);
    return ran.err;
  };
  CHECK(contains(said("hf", {}), "ours took up to 0.3 % less, measured for Llama 3.2 1B"));
  CHECK(contains(said("hf", {"checkpointing=layer"}), "up to 0.3 % less"));
  CHECK(contains(said("hf", {"adapters=lora"}), "ours took 2 % more"));
  CHECK(contains(said("liger", {}), "from 0.3 % less to 0.3 % more"));
  const auto unknown = [&](const char* code, const char* setting) {
    const std::string words = said(code, {setting});
    CHECK(contains(words, std::string("nothing was compared with ") + setting));
    CHECK_FALSE(contains(words, "0.3 %"));
  };
  unknown("hf", "gemm=fp8");
  unknown("hf", "adapters=qlora");
  unknown("hf", "optimizer=adamw_8bit");
  unknown("liger", "adapters=lora");
}

TEST_CASE("a plan of fp32 adapters has a sentence on PEFT's memory") {
  const std::vector<std::string> words{
      "--model", "llama-3.2-1b", "--seq",          "1024",          "--code",
      "hf",      "--set",        "precision=bf16", "adapters=lora", "lora_precision=fp32"};
  const std::string said = plan(words).err;
  CHECK(contains(said, "PEFT needs more memory"));
  CHECK(contains(said, "nothing was compared with lora_precision=fp32"));
  CHECK_FALSE(contains(said, "0.3 %"));
  // The note about PEFT also appears without --code, but not for fp32 weights.
  CHECK(contains(plan({"--set", "precision=bf16", "adapters=lora", "lora_precision=fp32"}).err, "PEFT needs"));
  CHECK_FALSE(contains(plan({"--set", "precision=fp32", "adapters=lora", "lora_precision=fp32"}).err, "PEFT needs"));
  CHECK_FALSE(contains(plan({"--set", "precision=bf16", "adapters=lora"}).err, "PEFT needs"));
}
