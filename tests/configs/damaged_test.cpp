// Damaged files, files of other kinds, wrong types: one sentence each, and never a crash.
#include <filesystem>
#include <fstream>

#include "tests/configs/support.h"
#include "tests/support/temporary_folder.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

const std::string kText =
    R"({"fp16": {"enabled": true, "initial_scale_power": 16}, "train_micro_batch_size_per_gpu": 4,)"
    R"( "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "reduce_bucket_size": 5e8}})";
const std::string kYaml =
    "distributed_type: FSDP\nfsdp_config:\n  fsdp_offload_params: true\n  fsdp_sharding_strategy: HYBRID_SHARD\n"
    "mixed_precision: 'bf16'\nnum_machines: 2\nnum_processes: 8\n";

bool is_sentence(const std::string& message) {
  return message.ends_with('.') && message.find('\n') == std::string::npos && message.size() < 500;
}

}  // namespace

TEST_CASE("files that are no configuration are refused with the cure") {
  CHECK(refusal_of("") == "ds.json is empty; write it again.");
  CHECK(refusal_of("[1]") == "ds.json is JSON, but not an object; use a configuration of DeepSpeed or Accelerate.");
  CHECK(refusal_of("{\"fp16\": {\n") == "ds.json is truncated; write it again.");
  CHECK(refusal_of("{\n\"fp16\": x\n}") ==
        "ds.json is not valid JSON in line 2: \"\"fp16\": x\"; correct it, or write it again.");
  CHECK(refusal_of("version https://git-lfs.github.com/spec/v1\n").starts_with("ds.json is a git LFS pointer"));
  CHECK(refusal_of(R"({"model_type": "llama", "hidden_size": 8})") ==
        "ds.json is no configuration of DeepSpeed or Accelerate: it has neither zero_optimization nor distributed_type "
        "nor any other key of theirs; a model's config.json goes with --model.");
  CHECK(refusal_of(std::string(100'000, '[')).find("nested 100000 levels deep, but the limit is 256") !=
        std::string::npos);
  CHECK(refusal_of("a:\n" + std::string(200'000, ' ') + "b: 1\n", "a.yaml").starts_with("a.yaml is no configuration"));
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  CHECK(refusal_of(deep, "a.yaml") == "a.yaml, line 9 is nested more than 8 levels deep; use a configuration.");
}

TEST_CASE("a file that cannot be read, or is far too long, is refused") {
  const TemporaryFolder folder;
  CHECK(configs::read_config(folder.path() / "no.json").error().message ==
        (folder / "no.json") + " cannot be read; pass a configuration of DeepSpeed (.json) or Accelerate (.yaml).");
  CHECK_FALSE(configs::read_config(folder.path()).ok());
  std::ofstream(folder / "long.json") << std::string(70'000, ' ');
  CHECK(configs::read_config(folder.path() / "long.json").error().message ==
        (folder / "long.json") + " has 70000 bytes, but the limit is 65536; write it again.");
}

TEST_CASE("a value of the wrong type is named with its key and what it must be") {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"zero_optimization": {"stage": 4}})",
       "zero_optimization.stage is 4, but it must be a whole number from 0 to 3."},
      {R"({"zero_optimization": {"stage": "three"}})",
       "zero_optimization.stage is \"three\", but it must be a whole number from 0 to 3."},
      {R"({"zero_optimization": true})", "zero_optimization is true, but it must be an object in braces."},
      {R"({"fp16": {"enabled": 2}})", "fp16.enabled is 2, but it must be true or false."},
      {R"({"fp16": {"enabled": {"a": 1}}})", "fp16.enabled is {\"a\":1}, but it must be true or false."},
      {R"({"gradient_clipping": -1})", "gradient_clipping is -1, but it must be a number from 0 to 1000000000000."},
      {R"({"zero_optimization": {"stage": 3, "offload_param": {"device": "gpu"}}})",
       "zero_optimization.offload_param.device is \"gpu\", but it must be \"cpu\", \"nvme\" or \"none\"."},
      {R"({"optimizer": {"params": {"betas": [0.9]}}})",
       "optimizer.params.betas is [0.9], but it must be two numbers in brackets."},
      {R"({"train_micro_batch_size_per_gpu": 1e30})",
       "train_micro_batch_size_per_gpu is 1e+30, but it must be a whole number from 1 to 1000000."},
  };
  for (const auto& [text, message] : wrong) CHECK(refusal_of(text) == std::string("ds.json: ") + message);
  CHECK(refusal_of("distributed_type: FSDP\nfsdp_config: 3\n", "a.yaml") ==
        "a.yaml: fsdp_config is 3, but it must be lines of its own, further indented.");
  CHECK(refusal_of("distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: MOST\n", "a.yaml") ==
        "a.yaml: fsdp_config.fsdp_sharding_strategy is \"MOST\", but it must be FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, "
        "HYBRID_SHARD or HYBRID_SHARD_ZERO2.");
}

TEST_CASE("a configuration cut or changed at any byte is read or refused in a sentence") {
  int refused = 0;
  const auto check = [&](const std::string& text, const char* file) {
    const std::string message = refusal_of(text, file);
    if (message.empty()) return;
    ++refused;
    INFO(message);
    CHECK(is_sentence(message));
  };
  for (const auto& [text, file] : {std::pair{kText, "ds.json"}, std::pair{kYaml, "a.yaml"}}) {
    REQUIRE(refusal_of(text, file).empty());
    for (std::size_t i = 0; i < text.size(); ++i) {
      check(text.substr(0, i), file);
      for (const char byte : {'\0', '{', '"', ':', '\n', '9', '\xFF'}) {
        std::string changed = text;
        changed[i] = byte;
        check(changed, file);
      }
    }
  }
  CHECK(refused > 500);
}
