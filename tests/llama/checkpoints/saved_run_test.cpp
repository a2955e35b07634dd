// Saved runs: loading, resuming bit for bit, and refusals.
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include "demos/engine/llama/model/model.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/llama/files/new_folder.h"
#include "demos/llama/files/safetensors.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/checkpoints/resumed_run.h"
#include "tests/llama/step_fixture.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
namespace fs = std::filesystem;

const Settings kMicro{"model=custom", "hidden_size=16",       "num_layers=2",   "num_heads=2", "num_kv_heads=1",
                      "head_dim=16",  "intermediate_size=32", "vocab_size=256", "batch=2",     "seq=16"};

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string refusal_of(const Settings& settings) {
  const auto run = run_or_refusal(params(settings), kCpu);
  return run ? "" : run.error().message;
}

}  // namespace

TEST_CASE("ten saved and ten resumed steps equal twenty steps bit for bit") {
  at::set_num_threads(1);
  const std::vector<Settings> kinds{
      {},
      {"fused.adamw=off"},
      {"precision=bf16"},
      {"precision=bf16", "rounding=stochastic"},
      {"precision=bf16", "moments=fp32"},
      {"precision=bf16_mixed"},
      {"precision=fp16_mixed", "loss_scale=1024", "loss_scale_window=4"},
      {"precision=bf16", "gemm=fp8", "fp8_scaling=delayed"},
      {"optimizer=adamw_8bit"},
      {"optimizer=galore", "galore_rank=4", "galore_interval=7"},
      {"adapters=lora", "lora_rank=4"},
      {"precision=bf16", "adapters=qlora", "lora_rank=4", "lora_targets=attention"},
      {"precision=bf16_mixed", "adapters=lora", "lora_rank=4", "lora_precision=fp32"},
      {"accumulate=2", "checkpointing=layer"},
      {"optimizer_in_backward=on", "loss=flce"},
      {"offload.optimizer=host"},
      {"precision=bf16", "offload.optimizer=host"},
      {"precision=bf16_mixed", "offload.optimizer=host"},
      {"precision=fp16_mixed", "loss_scale=65536", "loss_scale_window=4", "offload.optimizer=host"},
      {"precision=bf16_mixed", "adapters=lora", "lora_rank=4", "offload.optimizer=host"},
  };
  for (const Settings& kind : kinds) {
    CAPTURE(text_of(kind));
    check_resumed(joined(kMicro, kind), kCpu);
  }
}

TEST_CASE("resumed runs share a schedule if each names its end, and otherwise have their own") {
  at::set_num_threads(1);
  const TemporaryFolder folder;
  const std::string first = (folder.path() / "first").string(), second = (folder.path() / "second").string();
  const Settings cosine = joined(kMicro, {"schedule=cosine", "warmup_steps=1", "schedule_steps=8"});
  const std::vector<double> whole = trained(joined(cosine, {"schedule_steps=0"}), 8);
  CHECK(trained(joined(cosine, saving(first)), 4) == std::vector<double>(whole.begin(), whole.begin() + 4));
  CHECK(trained(joined(cosine, {"resume=" + first}), 4) == std::vector<double>(whole.begin() + 4, whole.end()));
  CHECK(trained(joined(cosine, {"resume=" + first, "schedule_steps=0"}), 4) ==
        std::vector<double>(whole.begin() + 4, whole.end()));  // the schedule ends at step 4 + 4 = 8
  CHECK(trained(joined(cosine, {"schedule_steps=0"}), 4).back() != whole[3]);

  // Linear schedule over two steps: the full rate, then half.
  const Settings constant = joined(kMicro, {"learning_rate=0.004"});
  trained(joined(constant, saving(second)), 1);
  const std::vector<double> halved = trained(joined(constant, {"learning_rate=0.002", "resume=" + second}), 2);
  const std::vector<double> line = trained(joined(constant, {"schedule=linear", "schedule_steps=2"}), 3);
  CHECK(line[2] == halved[1]);
}

TEST_CASE("a saved model is a checkpoint whose training continues from its weights") {
  const TemporaryFolder folder;
  const fs::path saved = folder.path() / "saved";
  const auto run = make_run(joined(kMicro, {"save=" + saved.string(), "seed=3"}), kCpu);
  losses(*run, 2);
  CHECK_FALSE(fs::exists(saved));
  REQUIRE(run->finish().ok());
  CHECK(files_in(saved) == std::vector<std::string>{"config.json", "model.safetensors"});
  CHECK(run->found().at("saved") == saved.string());
  run->step(2);
  const double next = run->loss();  // from the saved weights
  const auto config = llama::read_hugging_face_config(saved);
  REQUIRE(config.ok());
  CHECK(llama::find_weights(saved, config.value()).ok());
  const auto again = make_run({"model=custom", "batch=2", "seq=16", "seed=3", "weights=" + saved.string()}, kCpu);
  again->step(2);
  CHECK(again->loss() == next);
}

TEST_CASE("merged adapters compute the same as separate ones") {
  for (const Settings& kind : {Settings{"adapters=lora"}, {"adapters=qlora"}}) {
    CAPTURE(text_of(kind));
    const TemporaryFolder folder;
    const Settings settings = joined(joined(kMicro, kind), {"lora_rank=4", "learning_rate=0.01"});
    trained(joined(settings, {"save=" + (folder.path() / "merged").string(), "save_merged=on"}), 4);
    trained(joined(settings, saving(folder.path() / "beside")), 4);
    CHECK(files_in(folder.path() / "merged") == std::vector<std::string>{"config.json", "model.safetensors"});
    CHECK(files_in(folder.path() / "beside") ==
          std::vector<std::string>{"adapter_config.json", "adapter_model.safetensors", "training_state.json",
                                   "training_state.safetensors"});
    const auto merged =
        make_run({"model=custom", "batch=2", "seq=16", "weights=" + (folder.path() / "merged").string()}, kCpu);
    const auto beside = make_run(joined(settings, {"resume=" + (folder.path() / "beside").string()}), kCpu);
    merged->step(4);
    beside->step(0);  // the same data: resumed after 4 steps
    CHECK(merged->loss() == Approx(beside->loss()).epsilon(1e-6));
  }
}

TEST_CASE("PEFT's file names the adapters' initialization") {
  for (const auto& [start, written] :
       {std::pair("kaiming", nlohmann::json(true)), std::pair("gaussian", nlohmann::json("gaussian"))}) {
    const TemporaryFolder folder;
    trained(
        joined(kMicro, {"adapters=lora", std::string("lora_start=") + start, "save=" + (folder.path() / "a").string()}),
        1);
    const auto config = nlohmann::json::parse(std::ifstream(folder.path() / "a" / "adapter_config.json"));
    CHECK(config["init_lora_weights"] == written);
  }
}

TEST_CASE("fp32 adapters are saved in fp32 and merged into 16-bit weights") {
  const TemporaryFolder folder;
  const Settings fp32 =
      joined(kMicro, {"precision=bf16", "adapters=lora", "lora_precision=fp32", "learning_rate=0.01"});
  trained(joined(fp32, {"save=" + (folder.path() / "beside").string()}), 2);
  trained(joined(fp32, {"save=" + (folder.path() / "merged").string(), "save_merged=on"}), 2);
  const auto beside = llama::read_safetensors_header(folder.path() / "beside" / "adapter_model.safetensors");
  const auto merged = llama::read_safetensors_header(folder.path() / "merged" / "model.safetensors");
  REQUIRE(beside.ok());
  REQUIRE(merged.ok());
  for (const auto& [name, tensor] : beside.value()) CHECK(tensor.type == llama::StoredType::kF32);
  for (const auto& [name, tensor] : merged.value()) CHECK(tensor.type == llama::StoredType::kBf16);
}

TEST_CASE("the tokenizer and the config of the model's folder are copied") {
  const TemporaryFolder folder;
  write_config(folder.path(), kSmall);
  fs::copy_file(HEADROOM_SOURCE_DIR "/tests/tokens/fixtures/digits.json", folder.path() / "tokenizer.json");
  nlohmann::json config = nlohmann::json::parse(content_of(folder.path() / "config.json"));
  config["eos_token_id"] = 2, config["vocab_size"] = 500;
  write_bytes(folder.path() / "config.json", config.dump());
  const fs::path saved = folder.path() / "saved";
  trained({"model=custom", "batch=1", "seq=8", "precision=bf16", "weights=" + (folder.path() / "config.json").string(),
           "save=" + saved.string()},
          1);
  CHECK(content_of(saved / "tokenizer.json") == content_of(folder.path() / "tokenizer.json"));
  const auto written = nlohmann::json::parse(content_of(saved / "config.json"));
  CHECK(written["eos_token_id"] == 2);
  CHECK(written["torch_dtype"] == "bfloat16");
}

TEST_CASE("an existing folder is refused and not changed") {
  const TemporaryFolder folder;
  write_bytes(folder.path() / "file", "mine");
  CHECK(says(refusal_of(joined(kMicro, {"save=" + folder.path().string()})), "nothing is overwritten"));
  CHECK(says(refusal_of(joined(kMicro, {"save=" + (folder.path() / "file").string()})), "nothing is overwritten"));
  CHECK(says(refusal_of(joined(kMicro, {"save=" + (folder.path() / "no" / "where").string()})),
             "its parent folder does not exist"));
  CHECK(files_in(folder.path()) == std::vector<std::string>{"file"});
  // A folder created meanwhile stays.
  const fs::path saved = folder.path() / "saved";
  const auto run = make_run(joined(kMicro, {"save=" + saved.string()}), kCpu);
  run->step(0);
  fs::create_directory(saved);
  const record::Status finished = run->finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().kind == record::ErrorKind::kNotWritten);
  CHECK(says(finished.error().message, "nothing is overwritten"));
  CHECK(files_in(folder.path()) == std::vector<std::string>{"file", "saved"});
  CHECK(files_in(saved).empty());
}

TEST_CASE("a full disk is detected before the first step, and nothing is left") {
  const TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string said = refusal_of(joined(kMicro, {"save=" + (folder.path() / "saved").string()}));
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(says(said, "cannot be written (File too large)"));
  CHECK(files_in(folder.path()).empty());
}

TEST_CASE("another run's state is refused with the difference") {
  const TemporaryFolder folder;
  const fs::path saved = folder.path() / "saved";
  trained(joined(kMicro, saving(saved)), 1);
  const Settings resumed = joined(kMicro, {"resume=" + saved.string()});
  CHECK(refusal_of(resumed) == "");
  CHECK(says(refusal_of(joined(resumed, {"seed=5"})), "use seed=0"));
  CHECK(says(refusal_of(joined(resumed, {"data=" HEADROOM_SOURCE_DIR "/README.md"})), "use the same data"));
  CHECK(says(refusal_of(joined(resumed, {"intermediate_size=48"})), "intermediate_size 32"));
  CHECK(says(refusal_of(joined(resumed, {"precision=bf16"})), "but this run needs [256, 16] in BF16"));
  CHECK(says(refusal_of(joined(resumed, {"optimizer=adamw_8bit"})), "has no tensor"));
  CHECK(says(refusal_of(joined(resumed, {"adapters=lora"})), "adapter_model.safetensors cannot be read"));
  CHECK(says(refusal_of(joined(kMicro, {"resume=" + folder.path().string()})), "save_state=on"));
  // Weights that contradict the config.
  llama::Config other = kSmall;
  other.intermediate_size = 32, other.vocab_size = 256, other.num_layers = 3;
  write_config(saved, other);
  CHECK(says(refusal_of(resumed), "num_hidden_layers 3"));
  fs::remove(saved / "training_state.safetensors");
  write_bytes(saved / "training_state.json", "{}");
  CHECK(says(refusal_of(resumed), "no steps, seed or ids"));
}

TEST_CASE("a run does not resume from non-finite weights") {
  const TemporaryFolder folder;
  const fs::path saved = folder.path() / "saved";
  const std::string adapters = GENERATE("adapters=off", "adapters=lora");
  const Settings settings = joined(kMicro, {adapters});
  trained(joined(settings, saving(saved)), 1);
  const fs::path file = saved / (adapters == "adapters=off" ? "model.safetensors" : "adapter_model.safetensors");
  std::string bytes = content_of(file);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bytes.replace(bytes.size() - sizeof nan, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  write_bytes(file, bytes);
  const std::string said = refusal_of(joined(settings, {"resume=" + saved.string()}));
  CHECK(says(said, file.string() + " has a NaN in tensor "));
}

TEST_CASE("contradictory settings for saving are refused") {
  const std::string save = "save=/tmp/nowhere-headroom";
  CHECK(says(refusal_of(joined(kMicro, {"save_state=on"})), "save_state=on cannot be combined with save="));
  CHECK(says(refusal_of(joined(kMicro, {save, "save_state=on", "offload.optimizer=file"})), "offload.optimizer=file"));
  CHECK(says(refusal_of(joined(kMicro, {save, "save_state=on", "adapters=lora", "save_merged=on"})), "save_merged=on"));
}

TEST_CASE("a plan neither writes nor reads a run's saved files") {
  const TemporaryFolder folder;
  const Settings settings = joined(kMicro, {"save=" + (folder.path() / "saved").string(), "resume=/nowhere/at/all"});
  CHECK(make_run(settings, kPlanForCpu)->step(0) == experiments::StepResult::kDone);
  CHECK(files_in(folder.path()).empty());
}
