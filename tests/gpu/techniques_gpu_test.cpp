// Every technique of the training step on a GPU: the losses of the same step on the CPU, from the same weights; and a
// step as one CUDA graph gives those of the same step without.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/step/cuda_graph.h"
#include "demos/experiments/demo.h"
#include "tests/llama/checkpoint_folder.h"
#include "tests/llama/small_config.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using experiments::RunPlace;
using experiments::TrainStepRun;

const std::filesystem::path kText = HEADROOM_SOURCE_DIR "/tests/llama/reference/make_reference.py";
const RunPlace kCpu{.device = at::kCPU, .target = record::DeviceKind::kCpu};
const RunPlace kGpu{.device = at::Device(at::kCUDA, 0), .target = record::DeviceKind::kGpu};

using Settings = std::vector<std::string>;

// A small model's weights as a checkpoint: both devices start from the same numbers.
class Checkpoint {
 public:
  Checkpoint() {
    llama::Config config = test::kSmallConfig;
    config.vocab_size = 320;
    std::vector<test::TensorBytes> tensors;
    for (const llama::Parameter& p : llama::parameters(llama::make_model(config, {}, {}, /*seq=*/8, /*seed=*/5))) {
      const at::Tensor values = p.tensor.detach().contiguous();
      tensors.push_back({p.name, "F32", values.sizes().vec(),
                         std::string(static_cast<const char*>(values.const_data_ptr()), values.nbytes())});
    }
    test::write_bytes(folder_.path() / "config.json", test::config_json(config).dump());
    test::write_bytes(folder_.path() / "model.safetensors", test::safetensors(tensors));
  }
  std::string setting() const { return "weights=" + folder_.path().string(); }

 private:
  test::TemporaryFolder folder_;
};

std::string text_of(const Settings& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::unique_ptr<TrainStepRun> made(const Settings& settings, RunPlace place,
                                   const std::atomic<bool>* cancel = nullptr) {
  static const Checkpoint checkpoint;
  record::Params params(experiments::find_demo("train_step")->schema);
  for (const char* assignment : {"model=custom", "batch=2", "seq=64"}) REQUIRE(params.set_assignment(assignment).ok());
  REQUIRE(params.set_assignment(checkpoint.setting()).ok());
  for (const std::string& assignment : settings) REQUIRE(params.set_assignment(assignment).ok());
  auto run = TrainStepRun::create(params, {.place = place, .course_text = kText, .cancel = cancel});
  if (!run) FAIL(run.error().message);
  return std::move(run).value();
}

std::vector<double> losses(const Settings& settings, RunPlace place, int steps) {
  const std::unique_ptr<TrainStepRun> run = made(settings, place);
  std::vector<double> result;
  for (int i = 0; i < steps; ++i) {
    run->step(i);
    result.push_back(run->loss());
  }
  return result;
}

const std::vector<Settings> kTechniques{
    {"precision=fp32"},
    {"precision=bf16"},
    {"precision=bf16_mixed"},
    {"precision=fp16_mixed", "loss_scale=1024"},
    {"precision=bf16", "rounding=stochastic"},
    {"precision=bf16", "moments=fp32"},
    {"checkpointing=layer"},
    {"checkpointing=every", "checkpoint_every=2"},
    {"checkpointing=selective"},
    {"precision=bf16", "checkpointing=selective"},
    {"accumulate=3"},
    {"accumulate=3", "loss=flce", "fused.embedding=on"},
    {"attention=eager"},
    {"precision=bf16", "attention=cudnn"},
    {"precision=fp16_mixed", "loss_scale=1024", "attention=eager", "checkpointing=selective"},
    {"loss=hf_2024"},
    {"loss=hf_2025"},
    {"precision=fp16_mixed", "loss_scale=1024", "loss=hf_2024", "checkpointing=layer"},
    {"precision=fp16_mixed", "loss_scale=1024", "loss=flce"},
    {"precision=fp16_mixed", "loss_scale=1024", "fused.cross_entropy=on"},
    {"optimizer=adamw_8bit"},
    {"optimizer=galore", "galore_rank=16"},
    {"optimizer_in_backward=on"},
    {"optimizer_in_backward=on", "precision=fp16_mixed", "loss_scale=1024"},
    {"adapters=lora", "lora_rank=8"},
    {"adapters=qlora", "lora_rank=8", "precision=bf16"},
    {"offload.optimizer=host"},
    {"offload.optimizer=host", "precision=fp16_mixed", "loss_scale=1024"},
    {"offload.optimizer=host", "offload.parameters=on", "checkpointing=layer"},
    {"offload.checkpoints=on", "checkpointing=layer"},
    {"offload.optimizer=host", "offload.parameters=on", "offload.checkpoints=on", "checkpointing=layer",
     "precision=fp16_mixed", "loss_scale=1024", "loss=flce", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on"},
};

bool rounds(const Settings& settings) {
  return text_of(settings).find("precision=bf16") != std::string::npos ||
         text_of(settings).find("precision=fp16") != std::string::npos;
}

// The same step where cuDNN does not run.
Settings on_cpu(Settings settings) {
  std::replace(settings.begin(), settings.end(), std::string("attention=cudnn"), std::string("attention=flash"));
  return settings;
}

}  // namespace

TEST_CASE("a technique gives the same losses on the GPU as on the CPU") {
  const Settings settings = GENERATE(from_range(kTechniques));
  CAPTURE(text_of(settings));
  const std::vector<double> cpu = losses(on_cpu(settings), kCpu, 3), gpu = losses(settings, kGpu, 3);
  const bool drawn = text_of(settings).find("adapters") != std::string::npos;  // each device draws its own
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    CAPTURE(i, cpu[i], gpu[i]);
    CHECK(std::abs(gpu[i] - cpu[i]) < (rounds(settings) || drawn ? 1e-2 : 1e-4) * cpu[i]);
  }
}

TEST_CASE("a step as one CUDA graph gives the losses of the same step without") {
  const Settings settings = GENERATE(
      Settings{"precision=fp32", "fused.embedding=on"}, Settings{"precision=bf16"},
      Settings{"precision=bf16", "loss=flce", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on",
               "fused.embedding=on"},
      Settings{"precision=bf16", "checkpointing=layer", "fused.cross_entropy=on"},
      Settings{"precision=fp16_mixed", "loss_scale=1024", "loss_scale_window=2", "loss=flce"},
      Settings{"precision=bf16", "rounding=stochastic"}, Settings{"precision=bf16", "optimizer=adamw_8bit"},
      Settings{"precision=bf16", "optimizer_in_backward=on", "checkpointing=every"},
      Settings{"precision=bf16", "accumulate=2", "attention=eager", "checkpointing=selective"},
      Settings{"precision=bf16", "adapters=qlora"}, Settings{"precision=bf16", "loss=hf_2024", "keep_output=off"});
  CAPTURE(text_of(settings));
  Settings graph = settings;
  graph.emplace_back("cuda_graph=on");
  const std::vector<double> without = losses(settings, kGpu, 9), with = losses(graph, kGpu, 9);
  for (std::size_t i = 0; i < with.size(); ++i) {
    CAPTURE(i, with[i], without[i]);
    CHECK(std::abs(with[i] - without[i]) < (rounds(settings) ? 3e-3 : 1e-4) * without[i]);
  }
  // Each replay reads its own tokens and weights.
  for (std::size_t i = 1; i < with.size(); ++i) CHECK(with[i] != with[i - 1]);
}

TEST_CASE("a run that is cancelled while its step is recorded leaves the device to the next one") {
  const Settings settings{"precision=bf16"}, graph{"precision=bf16", "cuda_graph=on"};
  const std::vector<double> before = losses(settings, kGpu, 2);
  {
    std::atomic<bool> cancel = false;
    const std::unique_ptr<TrainStepRun> run = made(graph, kGpu, &cancel);
    for (int i = 0; i < llama::StepGraph::kWarmUp; ++i) run->step(i);
    cancel = true;
    CHECK(run->step(llama::StepGraph::kWarmUp) == experiments::StepResult::kCancelled);
  }
  CHECK(losses(settings, kGpu, 2) == before);
  CHECK(losses(graph, kGpu, llama::StepGraph::kWarmUp + 2).size() == llama::StepGraph::kWarmUp + 2);
}
