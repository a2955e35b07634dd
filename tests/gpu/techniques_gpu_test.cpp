// Compares every technique's losses on a GPU with those on the CPU from equal weights, and a step's with and without a
// CUDA graph.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <c10/cuda/CUDACachingAllocator.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/step/cuda_graph.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/technique_table.h"
#include "kernels/narrow_product/narrow_product_ops.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/model/small_config.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

// A small model's checkpoint, from which both devices start.
class Checkpoint {
 public:
  Checkpoint() {
    llama::Config config = kSmallConfig;
    config.vocab_size = 320;
    std::vector<TensorBytes> tensors;
    for (const llama::Parameter& p : llama::parameters(llama::make_model(config, {}, {}, /*seq=*/8, /*seed=*/5))) {
      const at::Tensor values = p.tensor.detach().contiguous();
      tensors.push_back({p.name, "F32", values.sizes().vec(),
                         std::string(static_cast<const char*>(values.const_data_ptr()), values.nbytes())});
    }
    write_bytes(folder_.path() / "config.json", config_json(config).dump());
    write_bytes(folder_.path() / "model.safetensors", safetensors(tensors));
  }
  std::string setting() const { return "weights=" + folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

Settings from_checkpoint(const Settings& settings) {
  static const Checkpoint checkpoint;
  return joined({"model=custom", "batch=2", "seq=64", checkpoint.setting()}, settings);
}

// Each row alone, with the settings that it needs; omits rows that need a GPU.
std::vector<Settings> rows_of_table() {
  std::vector<Settings> rows;
  for (const experiments::Technique& each : experiments::techniques()) {
    Settings settings = each.settings;
    if (each.id == "fp8") settings.push_back("precision=bf16");
    if (each.id == "galore") settings.push_back("galore_rank=16");
    if (each.id.starts_with("offload_") && each.id != "offload_optimizer") settings.push_back("checkpointing=layer");
    if (each.id == "offload_parameters") settings.push_back("offload.optimizer=host");
    const record::Params step = params(joined({"model=tiny", "device=cpu"}, settings));
    if (!settings.empty() && !experiments::refused_combination(step)) rows.push_back(settings);
  }
  return rows;
}

const std::vector<Settings> kCombined{
    {"precision=fp32"},
    {"precision=bf16"},
    {"precision=fp16_mixed", "loss_scale=1024"},
    {"precision=bf16", "moments=fp32"},
    {"gemm=tf32", "loss=flce"},
    {"precision=bf16", "gemm=fp8", "fp8_scaling=delayed"},
    {"precision=bf16_mixed", "gemm=fp8", "checkpointing=layer", "loss=flce"},
    {"precision=bf16", "gemm=fp8", "fused.rms_norm=on", "fused.swiglu=on", "fused.rope=on"},
    {"precision=bf16", "gemm=fp8", "checkpointing=selective", "attention=eager"},
    {"checkpointing=every", "checkpoint_every=2"},
    {"precision=bf16", "checkpointing=selective"},
    {"accumulate=3"},
    {"accumulate=3", "loss=flce", "fused.embedding=on"},
    {"attention=eager"},
    {"precision=bf16", "attention=cudnn"},
    {"precision=fp16_mixed", "loss_scale=1024", "attention=eager", "checkpointing=selective"},
    {"loss=hf_2024"},
    {"loss=hf_2025"},
    {"loss=flce", "loss_mode=report", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.keep=on"},
    {"precision=fp16_mixed", "loss_scale=1024", "loss=hf_2024", "checkpointing=layer"},
    {"precision=fp16_mixed", "loss_scale=1024", "loss=flce"},
    {"precision=fp16_mixed", "loss_scale=1024", "fused.cross_entropy=on"},
    {"optimizer_in_backward=on", "precision=fp16_mixed", "loss_scale=1024"},
    {"adapters=qlora", "lora_rank=8", "precision=bf16"},
    {"offload.optimizer=host", "precision=fp16_mixed", "loss_scale=1024"},
    {"offload.optimizer=host", "offload.parameters=on", "offload.checkpoints=on", "checkpointing=layer",
     "precision=fp16_mixed", "loss_scale=1024", "loss=flce", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on"},
};

std::vector<Settings> all_techniques() {
  std::vector<Settings> all = rows_of_table();
  all.insert(all.end(), kCombined.begin(), kCombined.end());
  return all;
}

bool rounds(const Settings& settings) {
  return text_of(settings).find("precision=bf16") != std::string::npos ||
         text_of(settings).find("gemm=") != std::string::npos ||
         text_of(settings).find("precision=fp16") != std::string::npos;
}

// The same settings without cuDNN.
Settings on_cpu(Settings settings) {
  std::replace(settings.begin(), settings.end(), std::string("attention=cudnn"), std::string("attention=flash"));
  return settings;
}

}  // namespace

TEST_CASE("a technique has the same losses on the GPU as on the CPU") {
  const Settings settings = GENERATE(from_range(all_techniques()));
  CAPTURE(text_of(settings));
  const std::vector<double> cpu = losses(from_checkpoint(on_cpu(settings)), 3, kCpu);
  const std::vector<double> gpu = losses(from_checkpoint(settings), 3, kGpu);
  const bool drawn = text_of(settings).find("adapters") != std::string::npos;  // each device draws its own adapters
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    CAPTURE(i, cpu[i], gpu[i]);
    CHECK(std::abs(gpu[i] - cpu[i]) < (rounds(settings) || drawn ? 1e-2 : 1e-4) * cpu[i]);
  }
}

TEST_CASE("a GPU that emulates fp8 or tf32 has the memory and losses of one with tensor cores") {
  const Settings products = GENERATE(Settings{"gemm=tf32"}, Settings{"precision=bf16", "gemm=fp8"},
                                     Settings{"precision=bf16_mixed", "gemm=fp8", "checkpointing=layer", "loss=flce"});
  CAPTURE(text_of(products));
  const Settings settings = from_checkpoint(products);
  const auto run = [&](bool emulated) {
    kernels::emulate_narrow_products(emulated);
    c10::cuda::CUDACachingAllocator::resetPeakStats(0);
    const std::vector<double> of_steps = losses(settings, 3, kGpu);
    kernels::emulate_narrow_products(false);
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
    return std::pair(of_steps, stats.allocated_bytes[0].peak);
  };
  losses(settings, 1, kGpu);  // warm-up: libraries allocate workspaces
  const auto [by_tensor_cores, peak] = run(false);
  const auto [emulated, emulated_peak] = run(true);
  CHECK(emulated_peak == peak);
  for (std::size_t i = 0; i < emulated.size(); ++i) {
    CAPTURE(i, emulated[i], by_tensor_cores[i]);
    CHECK(std::abs(emulated[i] - by_tensor_cores[i]) < (rounds(settings) ? 1e-2 : 1e-4) * by_tensor_cores[i]);
  }
}

TEST_CASE("a step as one CUDA graph has the losses of the same step without a graph") {
  const Settings switches = GENERATE(
      Settings{"precision=fp32", "fused.embedding=on"}, Settings{"precision=bf16"},
      Settings{"precision=bf16", "loss=flce", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on",
               "fused.embedding=on"},
      Settings{"precision=bf16", "checkpointing=layer", "fused.cross_entropy=on"},
      Settings{"precision=fp16_mixed", "loss_scale=1024", "loss_scale_window=2", "loss=flce"},
      Settings{"precision=bf16", "gemm=fp8"}, Settings{"precision=bf16", "gemm=fp8", "fp8_scaling=delayed"},
      Settings{"precision=bf16", "rounding=stochastic"}, Settings{"precision=bf16", "optimizer=adamw_8bit"},
      Settings{"precision=bf16", "optimizer_in_backward=on", "checkpointing=every"},
      Settings{"precision=bf16", "accumulate=2", "attention=eager", "checkpointing=selective"},
      Settings{"precision=bf16", "adapters=qlora"}, Settings{"precision=bf16", "loss=hf_2024", "keep_output=off"});
  CAPTURE(text_of(switches));
  const Settings settings = from_checkpoint(switches), graph = joined(settings, {"cuda_graph=on"});
  const std::vector<double> without = losses(settings, 9, kGpu), with = losses(graph, 9, kGpu);
  for (std::size_t i = 0; i < with.size(); ++i) {
    CAPTURE(i, with[i], without[i]);
    CHECK(std::abs(with[i] - without[i]) < (rounds(switches) ? 3e-3 : 1e-4) * without[i]);
  }
  // Each replay reads new tokens and weights.
  for (std::size_t i = 1; i < with.size(); ++i) CHECK(with[i] != with[i - 1]);
}

TEST_CASE("the next run works after one that was cancelled during graph capture") {
  const Settings settings = from_checkpoint({"precision=bf16"}), graph = joined(settings, {"cuda_graph=on"});
  const std::vector<double> before = losses(settings, 2, kGpu);
  {
    std::atomic<bool> cancel = false;
    const std::unique_ptr<TrainStepRun> run = make_run(graph, kGpu, &cancel);
    for (int i = 0; i < llama::StepGraph::kWarmUp; ++i) run->step(i);
    cancel = true;
    CHECK(run->step(llama::StepGraph::kWarmUp) == experiments::StepResult::kCancelled);
  }
  CHECK(losses(settings, 2, kGpu) == before);
  CHECK(losses(graph, llama::StepGraph::kWarmUp + 2, kGpu).size() == llama::StepGraph::kWarmUp + 2);
}
