// DeepSpeed's JSON: settings, "auto", keys without counterpart, and keys that only together have a meaning.
#include <fstream>
#include <iterator>

#include "demos/experiments/demo.h"
#include "tests/configs/support.h"

using namespace headroom;
using namespace headroom::tests;
using configs::Fate;
using predict::StateOffload;
using predict::Zero;

namespace {

using Settings = std::map<std::string, std::string>;
using Paths = std::set<std::string>;

configs::Config shipped(const std::string& name) {
  auto config = configs::read_config(std::string(HEADROOM_SOURCE_DIR) + "/assets/configs/" + name);
  if (!config) FAIL(config.error().message);
  return std::move(config).value();
}

}  // namespace

TEST_CASE("the report's second example offloads the optimizer and no parameters") {
  const configs::Config config = shipped("gpt2_xl_zero3.json");
  CHECK(config.framework == configs::Framework::kDeepSpeed);
  CHECK(config.zero == Zero::kWeights);
  CHECK(config.state == StateOffload::kHost);
  CHECK(config.weights == StateOffload::kOff);
  CHECK(settings_in(config) == Settings{{"zero", "3"},
                                        {"precision", "fp16_mixed"},
                                        {"optimizer", "adamw"},
                                        {"offload.optimizer", "host"},
                                        {"bucket", "1000000000"},  // 5e8 elements by default
                                        {"loss_scale", "65536"},
                                        {"loss_scale_window", "1000"},
                                        {"schedule", "linear"}});
  CHECK(config.find("bucket")->from.empty());
  CHECK(config.find("zero")->from == "zero_optimization.stage");
  CHECK(paths_with(config, Fate::kUnknown).empty());
  CHECK(paths_with(config, Fate::kIgnored) ==
        Paths{"fp16.hysteresis", "fp16.min_loss_scale", "scheduler.params.warmup_min_lr"});
  CHECK(paths_with(config, Fate::kAutomatic) ==
        Paths{"optimizer.params.lr", "optimizer.params.weight_decay", "scheduler.params.total_num_steps",
              "scheduler.params.warmup_max_lr", "scheduler.params.warmup_num_steps"});
  CHECK(shipped("gpt2_xl_zero3_param.json").weights == StateOffload::kHost);
}

TEST_CASE("the report's first example has a text where a boolean belongs") {
  const configs::Config config = shipped("blenderbot_zero2.json");
  CHECK(config.find("zero")->value == "2");
  CHECK(config.find("precision")->value == "fp16_mixed");
  CHECK(config.find("bucket")->value == "400000000");  // 2e8 elements of 2 bytes
  CHECK(config.find("loss_scale")->value == "32768");
  for (const configs::Key& key : config.keys)
    if (key.path == "fp16.enabled") CHECK(key.words == "in quotes it is a text: remove them");
}

TEST_CASE("every setting that a shipped configuration means is one of the training step") {
  for (const char* name : {"gpt2_xl_zero3.json", "gpt2_xl_zero3_param.json", "blenderbot_zero2.json",
                           "deepspeed_bf16.json", "fsdp_mixed.yaml", "fsdp_bf16.yaml"}) {
    record::Params params(experiments::training_step().schema);
    for (const configs::Setting& setting : shipped(name).settings) {
      INFO(name << ": " << setting.text());
      CHECK(params.set_assignment(setting.text()).ok());
    }
  }
}

TEST_CASE("values that our step has are read, in the order of their bytes") {
  const configs::Config config = config_of(R"({
    "bf16": {"enabled": true}, "gradient_clipping": 1.0, "communication_data_type": "fp32",
    "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4, "train_batch_size": 64,
    "optimizer": {"type": "Adam", "params": {"lr": 3e-4, "betas": [0.9, 0.98], "eps": 1e-8, "weight_decay": 0.01}},
    "scheduler": {"type": "WarmupCosineLR", "params": {"warmup_num_steps": 10, "total_num_steps": 100}},
    "activation_checkpointing": {"cpu_checkpointing": true},
    "zero_optimization": {"stage": 3, "reduce_bucket_size": 1e6, "stage3_prefetch_bucket_size": 0,
                          "mics_shard_size": 4}})");
  CHECK(settings_in(config) == Settings{{"ranks", "8"},
                                        {"zero", "3"},
                                        {"zero_group", "4"},
                                        {"precision", "bf16_mixed"},
                                        {"optimizer", "adamw"},
                                        {"checkpointing", "layer"},
                                        {"offload.checkpoints", "on"},
                                        {"batch", "2"},
                                        {"accumulate", "4"},
                                        {"bucket", "4000000"},  // summed in fp32
                                        {"prefetch", "0"},
                                        {"reduce", "fp32"},
                                        {"clip", "1"},
                                        {"learning_rate", "0.0003"},
                                        {"schedule", "cosine"},
                                        {"warmup_steps", "10"},
                                        {"schedule_steps", "100"},
                                        {"beta1", "0.9"},
                                        {"beta2", "0.98"},
                                        {"epsilon", "1e-08"},
                                        {"weight_decay", "0.01"}});
  CHECK(config.settings.front().key == "ranks");
  CHECK(config.settings.back().key == "weight_decay");
}

TEST_CASE("unknown keys are listed with their path, in the file's order") {
  const configs::Config config = config_of(
      R"({"zero_optimization": {"stage": 1, "stag": 3, "offload_optimizer": {"devise": "cpu"}}, "x": {"y": 1}})");
  std::vector<std::string> unknown;
  for (const configs::Key* key : config.with(Fate::kUnknown)) unknown.push_back(key->path + "=" + key->value);
  CHECK(unknown == std::vector<std::string>{"zero_optimization.stag=3",
                                            "zero_optimization.offload_optimizer.devise=\"cpu\"", "x={\"y\":1}"});
  CHECK(config.zero == Zero::kOptimizer);
}

TEST_CASE("an automatic precision is taken as bf16, and an automatic bucket as one layer") {
  const configs::Config config = config_of(
      R"({"fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"}})");
  CHECK(settings_in(config) == Settings{{"zero", "2"}, {"precision", "bf16_mixed"}});
  CHECK(paths_with(config, Fate::kAutomatic).size() == 3);
  CHECK(config_of(R"({"bf16": {"enabled": false}})").find("precision")->value == "fp32");
}

TEST_CASE("DeepSpeed offloads parameters at stage 3 only, and the optimizer from stage 1 on") {
  const configs::Config two = config_of(
      R"({"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}, "offload_optimizer": {"device": "nvme"}}})");
  CHECK(two.weights == StateOffload::kOff);
  CHECK(two.state == StateOffload::kFile);
  CHECK(two.find("offload.optimizer")->value == "file");
  CHECK(two.find("offload.parameters") == nullptr);
  CHECK(paths_with(two, Fate::kIgnored) == Paths{"zero_optimization.offload_param.device"});
  const configs::Config off = config_of(R"({"zero_optimization": {"stage": 0, "cpu_offload": true}})");
  CHECK(off.state == StateOffload::kOff);
  CHECK(paths_with(off, Fate::kIgnored) == Paths{"zero_optimization.cpu_offload"});
}

TEST_CASE("batch, accumulation and GPUs must give the step's sequences") {
  CHECK(refusal_of(R"({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 4})") ==
        "ds.json: train_batch_size is 10, which is no multiple of the 4 that its batch, accumulation and GPUs give; "
        "correct one of them.");
  const configs::Config open = config_of(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4})");
  CHECK(open.find("ranks") == nullptr);
  CHECK(paths_with(open, Fate::kIgnored) == Paths{"train_batch_size"});
  CHECK(refusal_of(R"({"fp16": {"enabled": true}, "bf16": {"enabled": true}})") ==
        "ds.json: fp16.enabled and bf16.enabled are both true; keep one.");
}

TEST_CASE("a key can be taken out of a document by its path") {
  const auto document = configs::parse_document(
      R"({"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}})", "a.json");
  REQUIRE(document.ok());
  CHECK(configs::without(document.value(), "zero_optimization.stage").dump() ==
        R"({"zero_optimization":{"offload_optimizer":{"device":"cpu"}}})");
  CHECK(configs::without(document.value(), "zero_optimization.offload_optimizer.device").dump() ==
        R"({"zero_optimization":{"stage":3,"offload_optimizer":{}}})");
  CHECK(configs::without(document.value(), "no.such.key") == document.value());
}
