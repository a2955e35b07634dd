// The file of `accelerate config`, with FSDP, with DeepSpeed and alone, and the Trainer's fsdp_config.
#include <fstream>

#include "tests/configs/support.h"
#include "tests/support/temporary_folder.h"

using namespace headroom;
using namespace headroom::tests;
using configs::Fate;
using configs::Framework;
using predict::StateOffload;
using predict::Zero;

namespace {

using Settings = std::map<std::string, std::string>;

const std::string kFsdp =
    "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 2\n"
    "num_processes: 16\nfsdp_config:\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n";

configs::Config fsdp(const std::string& lines) { return config_of(kFsdp + lines, "fsdp.yaml"); }

}  // namespace

TEST_CASE("FSDP shards fully unless its strategy says otherwise") {
  CHECK(settings_in(fsdp("")) == Settings{{"ranks", "16"}, {"zero", "3"}, {"precision", "bf16_mixed"}});
  const std::pair<const char*, Zero> strategies[] = {{"1", Zero::kWeights},
                                                     {"FULL_SHARD", Zero::kWeights},
                                                     {"SHARD_GRAD_OP", Zero::kGradients},
                                                     {"shard_grad_op", Zero::kGradients},
                                                     {"'3'", Zero::kOff}};
  for (const auto& [name, zero] : strategies) {
    INFO(name);
    CHECK(fsdp(std::string("  fsdp_sharding_strategy: ") + name + "\n").zero == zero);
  }
  CHECK(fsdp("  fsdp_version: 2\n  fsdp_reshard_after_forward: false\n").zero == Zero::kGradients);
}

TEST_CASE("hybrid sharding shares within a host") {
  const configs::Config hybrid = fsdp("  fsdp_sharding_strategy: HYBRID_SHARD\n");
  CHECK(settings_in(hybrid) ==
        Settings{{"ranks", "16"}, {"zero", "3"}, {"zero_group", "8"}, {"precision", "bf16_mixed"}});
  CHECK(paths_with(fsdp(""), Fate::kIgnored).contains("num_machines"));
}

TEST_CASE("FSDP offloads all or nothing, prefetches a layer, and recomputes on request") {
  const configs::Config config = fsdp(
      "  fsdp_offload_params: true\n  fsdp_backward_prefetch: NO_PREFETCH\n  fsdp_activation_checkpointing: true\n");
  CHECK(config.state == StateOffload::kHost);
  CHECK(config.weights == StateOffload::kHost);
  CHECK(config.find("prefetch")->value == "0");
  CHECK(config.find("checkpointing")->value == "layer");
  CHECK(fsdp("  fsdp_backward_prefetch: BACKWARD_PRE\n").find("prefetch")->value == "1");
  CHECK(fsdp("  fsdp_sharding_strategy: NO_SHARD\n  fsdp_backward_prefetch: BACKWARD_PRE\n").find("prefetch") ==
        nullptr);
}

TEST_CASE("no mixed precision means the format of the loaded weights, in quotes or without") {
  for (const char* line : {"mixed_precision: 'no'\n", "mixed_precision: no\n"}) {
    const configs::Config config = config_of(std::string("distributed_type: FSDP\n") + line, "a.yml");
    CHECK_FALSE(config.mixed);
    CHECK(config.find("precision")->value == "bf16");
    CHECK(paths_with(config, Fate::kAutomatic) == std::set<std::string>{"mixed_precision"});
  }
}

TEST_CASE("Accelerate's own keys for DeepSpeed mean what DeepSpeed's do") {
  const configs::Config config = config_of(
      "deepspeed_config:\n  gradient_accumulation_steps: 8\n  gradient_clipping: 1.0\n"
      "  offload_optimizer_device: cpu\n  offload_param_device: none\n  zero3_init_flag: true\n  zero_stage: 3\n"
      "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 4\n",
      "a.yaml");
  CHECK(config.framework == Framework::kDeepSpeed);
  CHECK(settings_in(config) == Settings{{"ranks", "4"},
                                        {"zero", "3"},
                                        {"precision", "bf16_mixed"},
                                        {"offload.optimizer", "host"},
                                        {"accumulate", "8"},
                                        {"bucket", "1000000000"},
                                        {"clip", "1"}});
}

TEST_CASE("a DeepSpeed file that Accelerate's names is read, too, and its automatic precision is Accelerate's") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ds.json") << R"({"fp16": {"enabled": "auto"}, "zero_optimization": {"stage": 1}})";
  const std::string file = folder / "a.yaml";
  std::ofstream(file) << "deepspeed_config:\n  deepspeed_config_file: ds.json\ndistributed_type: DEEPSPEED\n"
                         "mixed_precision: fp16\nnum_processes: 2\n";
  const auto config = configs::read_config(file);
  REQUIRE(config.ok());
  CHECK(config.value().zero == Zero::kOptimizer);
  CHECK(config.value().find("precision")->value == "fp16_mixed");
  CHECK(config.value().find("zero")->from == "ds.json.zero_optimization.stage");
  std::ofstream(file) << "deepspeed_config:\n  deepspeed_config_file: no.json\ndistributed_type: DEEPSPEED\n";
  CHECK(configs::read_config(file).error().message ==
        file + ": deepspeed_config.deepspeed_config_file: " + (folder / "no.json") +
            " cannot be read; pass a configuration of DeepSpeed (.json) or Accelerate (.yaml).");
}

TEST_CASE("several GPUs without sharding are data parallel, and other kinds are refused with the choices") {
  const configs::Config ddp =
      config_of("distributed_type: MULTI_GPU\nnum_processes: 2\nfsdp_config:\n  fsdp_version: 2\n", "a");
  CHECK(ddp.framework == Framework::kDataParallel);
  CHECK(settings_in(ddp) == Settings{{"ranks", "2"}, {"zero", "off"}, {"precision", "bf16"}});
  CHECK(config_of("distributed_type: 'NO'\n", "a").ranks == 1);
  CHECK(
      refusal_of("distributed_type: MEGATRON_LM\n", "a.yaml") ==
      "a.yaml: distributed_type is \"MEGATRON_LM\", but it must be FSDP, DEEPSPEED, MULTI_GPU, MULTI_CPU or NO, which "
      "our step can imitate.");
  CHECK(refusal_of("num_processes: 2\n", "a.yaml") ==
        "a.yaml has no distributed_type; add FSDP, DEEPSPEED, MULTI_GPU or NO.");
}

TEST_CASE("the Trainer's fsdp_config is a section alone, with or without the prefix") {
  for (const char* text : {R"({"fsdp_offload_params": "true", "fsdp_backward_prefetch": "backward_post"})",
                           R"({"offload_params": true, "backward_prefetch": "BACKWARD_POST"})"}) {
    const configs::Config config = config_of(text, "fsdp.json");
    CHECK(config.framework == Framework::kFsdp);
    CHECK(config.zero == Zero::kWeights);
    CHECK(config.weights == StateOffload::kHost);
    CHECK(config.find("prefetch")->value == "0");
  }
}
