// Exceptions that mean a lack of memory, and messages of runs that never begin.
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include "demos/engine/live/run/device_facts.h"
#include "demos/engine/live/run/run_errors.h"
#include "demos/engine/live/trace/kernel_support.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "tests/live/run_driver.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using live::is_out_of_memory;
using record::DeviceKind;
using record::OutcomeKind;
using tests::RunDriver;

const c10::SourceLocation kHere{"run_errors_test", __FILE__, __LINE__};

// A CPU, a GPU that is never touched, and kernels for compute capability 8.0 and later.
live::MachineFacts machine_with_gpu(const std::string& capability) {
  return {.devices =
              {{.kind = DeviceKind::kCpu, .key = "cpu", .name = "CPU", .memory = record::kGiB, .free_memory = 0},
               {.kind = DeviceKind::kGpu, .key = "cuda", .name = "Tesla T4", .memory = record::kGiB, .free_memory = 0}},
          .facts = {{"compute_capability", capability}},
          .available_memory = {},
          .oldest_capability = 80};
}

}  // namespace

TEST_CASE("out of memory is recognized in LibTorch's allocator, in CUDA and in cuBLAS") {
  CHECK(is_out_of_memory(c10::OutOfMemoryError(kHere, "no room")));
  CHECK(is_out_of_memory(c10::AcceleratorError(kHere, cudaErrorMemoryAllocation, "CUDA error: out of memory")));
  CHECK(is_out_of_memory(
      c10::Error(kHere, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")));
  CHECK_FALSE(is_out_of_memory(c10::AcceleratorError(kHere, cudaErrorIllegalAddress, "CUDA error: illegal access")));
  CHECK_FALSE(is_out_of_memory(c10::Error(kHere, "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED")));
  CHECK_FALSE(is_out_of_memory(std::runtime_error("something else")));
}

// A planner computes nothing, so it needs no such format.
TEST_CASE("a GPU without a GEMM format is planned like one with it") {
  const auto events = [](const std::string& capability, tests::SettingMap settings) {
    settings.merge(tests::SettingMap{{"model", "tiny"}, {"device", "cuda"}, {"batch", "1"}, {"seq", "32"}});
    const auto run = RunDriver(machine_with_gpu(capability), live::EngineRole::kPlanner).run(settings);
    REQUIRE(run.outcome().kind == OutcomeKind::kCompleted);
    return run.recording.events().size();
  };
  const tests::SettingMap tf32{{"gemm", "tf32"}, {"fused.adamw", "off"}}, fp8{{"precision", "bf16"}, {"gemm", "fp8"}};
  CHECK(events("7.5", tf32) == events("9.0", tf32));
  CHECK(events("8.0", fp8) == events("9.0", fp8));
}

TEST_CASE("a GPU without bf16 is refused before anything is allocated") {
  RunDriver driver(machine_with_gpu("7.5"));
  const auto refused = driver.run({{"model", "tiny"}, {"device", "cuda"}, {"precision", "bf16"}});
  CHECK(refused.outcome().kind == OutcomeKind::kRefused);
  CHECK(refused.outcome().message ==
        "Tesla T4 has compute capability 7.5, but bf16 needs 8.0: use precision=fp32 or device=cpu.");
  const auto on_cpu =
      driver.run({{"model", "tiny"}, {"device", "cpu"}, {"precision", "bf16"}, {"seq", "16"}, {"steps", "1"}});
  CHECK(on_cpu.outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("a GPU older than the compiled kernels gets the composed step, and the run says why") {
  const tests::SettingMap fused{{"model", "tiny"},      {"device", "cuda"},    {"batch", "1"},
                                {"seq", "32"},          {"fused.rope", "on"},  {"fused.rms_norm", "on"},
                                {"fused.swiglu", "on"}, {"fused.adamw", "on"}, {"fused.embedding", "on"},
                                {"loss", "flce"}};
  const auto plan = [](const std::string& capability, const tests::SettingMap& settings) {
    return RunDriver(machine_with_gpu(capability), live::EngineRole::kPlanner).run(settings);
  };
  const auto old = plan("5.2", fused);
  REQUIRE(old.outcome().kind == OutcomeKind::kCompleted);
  const record::RunInfo& info = old.recording.info();
  for (const char* key : {"fused.rope", "fused.rms_norm", "fused.swiglu", "fused.adamw", "fused.embedding"}) {
    CHECK(info.params.at(key) == "off");
  }
  CHECK(info.params.at("loss") == "plain");
  const std::string said = info.provenance.at("kernels_trouble");
  CHECK(said.starts_with("Tesla T4 has compute capability 5.2, but the kernels of this build need "));
  CHECK(said.ends_with(": this run uses PyTorch's operators instead."));

  const auto able = plan("12.1", fused);
  CHECK(able.recording.info().params.at("fused.rope") == "on");
  CHECK(able.recording.info().params.at("loss") == "flce");
  CHECK_FALSE(able.recording.info().provenance.contains("kernels_trouble"));
  CHECK(able.recording.events().size() < old.recording.events().size());

  const auto composed =
      plan("5.2", {{"model", "tiny"}, {"device", "cuda"}, {"batch", "1"}, {"seq", "32"}, {"fused.adamw", "off"}});
  CHECK_FALSE(composed.recording.info().provenance.contains("kernels_trouble"));  // no kernel was requested
  CHECK(composed.recording.events().size() == old.recording.events().size());

  RunDriver driver(machine_with_gpu("5.2"));
  const auto bench = driver.run({{"device", "cuda"}}, true, {}, "bench");
  CHECK(bench.outcome().kind == OutcomeKind::kRefused);
  CHECK(bench.outcome().message.find("compute capability 5.2") != std::string::npos);
  CHECK(driver.run({{"model", "tiny"}, {"device", "cpu"}, {"seq", "16"}, {"steps", "1"}, {"fused.rope", "on"}})
            .recording.info()
            .params.at("fused.rope") == "on");  // the CPU has its own kernels
}

TEST_CASE("automatic attention is recorded as the selected kernel, with a note in the provenance") {
  const auto plan = [](const std::string& capability, const std::string& device) {
    const auto run = RunDriver(machine_with_gpu(capability), live::EngineRole::kPlanner)
                         .run({{"model", "tiny"},
                               {"device", device},
                               {"precision", "bf16"},
                               {"batch", "1"},
                               {"seq", "32"},
                               {"attention", "auto"}});
    REQUIRE(run.outcome().kind == OutcomeKind::kCompleted);
    return run.recording;
  };
  const record::Recording hopper = plan("9.0", "cuda"), ampere = plan("8.0", "cuda"), cpu = plan("9.0", "cpu");
  CHECK(hopper.info().params.at("attention") == "cudnn");
  CHECK(hopper.info().provenance.at("attention") == "auto chose cudnn on Tesla T4");
  CHECK(ampere.info().params.at("attention") == "flash");
  CHECK(ampere.info().provenance.at("attention") == "auto chose flash on Tesla T4");
  CHECK(cpu.info().params.at("attention") == "flash");
  CHECK(hopper.events().size() != ampere.events().size());
}

TEST_CASE("settings that need our kernels are refused in one sentence on a GPU older than the kernels") {
  const live::EngineRole role = GENERATE(live::EngineRole::kPlanner, live::EngineRole::kRunner);
  RunDriver driver(machine_with_gpu("5.2"), role);
  const auto said = [&](const tests::SettingMap& settings, const std::string& demo = "train_step") {
    const auto run = driver.run(settings, true, {}, demo);
    CHECK(run.outcome().kind == OutcomeKind::kRefused);
    CHECK(run.recording.events().empty());
    return run.outcome().message;
  };
  CHECK(said({{"model", "tiny"}, {"device", "cuda"}, {"optimizer", "galore"}}) ==
        "Tesla T4 has compute capability 5.2, but the kernels of this build need 8.0; optimizer=galore needs these "
        "kernels: use optimizer=adamw or device=cpu.");
  CHECK(said({{"model", "tiny"}, {"device", "cuda"}, {"clip", "0.5"}})
            .ends_with("; clip=0.5 needs these kernels: use clip=0 or device=cpu."));
  CHECK(said({{"device", "cuda"}, {"exercise", "vectorise"}}, "edit_kernel")
            .ends_with("use exercise=vector_add or device=cpu."));
}

// Runs on the CPU, where our kernels report themselves. 16-bit GEMMs do not count: on a CPU they are always ours, on a
// GPU LibTorch's.
TEST_CASE("a composed step runs none of our kernels, and settings that need them are refused") {
  static int ours = 0;
  const auto count = [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
    const std::string_view name = function.name();
    ours += name.starts_with("headroom::") && name != "headroom::product" ? 1 : 0;
    return nullptr;
  };
  const auto handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback(count).scopes({at::RecordScope::USER_SCOPE}));
  const auto ran = [&](const record::Params& params) {
    ours = 0;
    const auto run = tests::make_run(params, tests::kCpu);
    for (int i = 0; i < 2; ++i) run->step(i);
    return ours;
  };
  int composed = 0, refused = 0;
  for (const record::ParamSpec& spec : experiments::find_demo("train_step")->schema) {
    for (const record::Choice& choice : record::choices_of(spec)) {
      record::Params params = tests::params({"model=tiny", "batch=1", "seq=16", "device=cpu"});
      const auto set = [&](std::string_view key, std::string_view value) { REQUIRE(params.set(key, value).ok()); };
      if (spec.key == "device" || spec.key == "model" || spec.key == "trace" || spec.key == "data_type") continue;
      if (choice.key == "tf32") continue;  // these GEMMs are ours here, LibTorch's on a GPU
      if (spec.key.starts_with("offload.")) set("checkpointing", "layer");
      if (spec.key == "offload.parameters") set("offload.optimizer", "host");
      if (!spec.needs_key.empty()) set(spec.needs_key, spec.needs_value.substr(0, spec.needs_value.find('|')));
      set(spec.key, choice.key);
      CAPTURE(spec.key, choice.key);
      // A graph needs a GPU and is always refused here.
      if (spec.key != "cuda_graph" && experiments::refused_combination(params)) continue;
      if (!live::only_by_kernels(params).empty()) {
        ++refused;
        continue;
      }
      live::compose(params);
      REQUIRE_FALSE(experiments::refused_combination(params).has_value());
      CHECK(ran(params) == 0);
      ++composed;
    }
  }
  CHECK(composed > 30);
  CHECK(refused > 8);
  CHECK(ran(tests::params({"model=tiny", "batch=1", "seq=16"})) > 0);  // the observer works
  at::removeCallback(handle);
}

TEST_CASE("the losses of Hugging Face's code need no kernels and stay") {
  record::Params params = tests::params({"loss=hf_2024"});
  live::compose(params);
  CHECK(params.text("loss") == "hf_2024");
}

TEST_CASE("the error of an unprepared CPU run does not mention a GPU") {
  live::MachineFacts machine = machine_with_gpu("7.5");
  machine.available_memory = []() -> record::Bytes { throw std::runtime_error("/proc is not there"); };
  RunDriver driver(std::move(machine));
  const auto run = driver.run({{"model", "tiny"}, {"device", "cpu"}});
  CHECK(run.outcome().kind == OutcomeKind::kFailed);
  CHECK(run.outcome().message == "The run could not be prepared: /proc is not there");
}

TEST_CASE("a run cancelled while its model is built ends as cancelled, not as refused") {
  RunDriver driver;
  const auto run = driver.run({{"model", "custom"}, {"num_layers", "64"}, {"hidden_size", "1024"}, {"device", "cpu"}},
                              /*record=*/true, [&](const record::Recording& recording) {
                                if (!recording.events().empty()) driver.worker().cancel(1);
                              });
  CHECK(run.outcome().kind == OutcomeKind::kCancelled);
  CHECK(run.recording.events().size() < 64 * 9);
}
