// Plans for the CPU equal the runs' allocations, for each technique and each compatible pair.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "demos/experiments/combinations.h"
#include "demos/record/scope.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/model/relatives.h"
#include "tests/llama/step/step_positions.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using record::Params;

// A step with an odd number of tokens, divisible by no tile or vector.
Params base_step(const Settings& base) {
  Params params = micro_step();
  for (const std::string& setting : joined({"device=cpu", "seq=11"}, base)) set(params, setting);
  return params;
}

std::vector<Allocation> whole_run(const Params& params, const RunPlace& place) {
  std::unique_ptr<TrainStepRun> run;  // outlives the log
  return log_of(place, [&] {
    run = make_run(params, place);
    for (int i = 0; i < 3; ++i) run->step(i);
  });
}

void check_list(const Params& params) {
  const auto real = whole_run(params, kCpu), planned = whole_run(params, kPlanForCpu);
  REQUIRE(real.size() > 300);
  check_equal(real, planned);
}

void check_peak(const Params& params) {
  const auto real = threads_at_once(whole_run(params, kCpu)), planned = whole_run(params, kPlanForCpu);
  CHECK(peak_by_category(real) == peak_by_category(planned));
}

// Settings that differ from the defaults.
std::string said(const Params& params) {
  const Params defaults = micro_step();
  std::string words;
  for (const record::ParamSpec& spec : params.schema())
    if (params.as_text(spec.key) != defaults.as_text(spec.key))
      words += " " + std::string(spec.key) + "=" + params.as_text(spec.key);
  return words;
}

// Checks each allowed step once, and returns the number of steps.
template <class Check>
int for_each_step(const Settings& base, bool pairs, Check check) {
  const std::vector<Position> all = positions();
  std::set<std::string> done;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i; j < (pairs ? all.size() : i + 1); ++j) {  // j = i: a technique alone
      Params params = base_step(base);
      if (!set_both(params, all[i], all[j]) || experiments::refused_combination(params)) continue;
      const std::string words = said(params);
      if (!done.insert(words).second) continue;
      CAPTURE(words);
      check(params);
    }
  }
  return static_cast<int>(done.size());
}

// Groups of techniques, each combined with every other technique.
const std::vector<Settings> kTogether{
    {"precision=bf16_mixed", "attention=eager", "checkpointing=layer"},
    {"precision=fp16_mixed", "offload.optimizer=host", "checkpointing=layer"},
    {"precision=bf16", "loss=flce", "weight_gradient=fp32", "accumulate=2"},
    {"precision=bf16", "loss=flce", "loss_mode=lean", "adapters=qlora"},
    {"checkpointing=selective", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.cross_entropy=on",
     "fused.embedding=on"},
    {"optimizer=galore", "galore_interval=2", "optimizer_in_backward=on"},
    // Matrix sides that fp8 supports.
    {"precision=bf16", "gemm=fp8", "seq=16", "num_kv_heads=2", "intermediate_size=32"},
    {"precision=bf16_mixed", "gemm=fp8", "fp8_scaling=delayed", "seq=16", "num_kv_heads=2", "intermediate_size=32",
     "fused.rms_norm=on", "fused.swiglu=on"},
};

}  // namespace

TEST_CASE("every technique and every pair is planned as the CPU runs it, event by event") {
  install_allocation_log();
  at::set_num_threads(1);
  CHECK(for_each_step({}, /*pairs=*/true, check_list) > 700);
}

TEST_CASE("a technique added to others is planned as the CPU runs it, event by event") {
  install_allocation_log();
  at::set_num_threads(1);
  const Settings base = GENERATE(from_range(kTogether));
  CAPTURE(text_of(base));
  CHECK(for_each_step(base, /*pairs=*/false, check_list) > 15);
}

TEST_CASE("a technique of a relative is planned as the CPU runs it, event by event") {
  install_allocation_log();
  at::set_num_threads(1);
  const auto which = GENERATE(range(std::size_t{0}, kRelatives.size()));
  CAPTURE(which);
  const TemporaryFolder folder;
  write_config(folder.path(), kRelatives[which]);
  const std::string weights = "weights=" + (folder.path() / "config.json").string();
  CHECK(for_each_step({weights}, /*pairs=*/false, check_list) > 30);
}

TEST_CASE("the peak of every technique is planned by category with several threads") {
  install_allocation_log();
  record::become_worker_thread();  // like an engine, to include other threads' allocations
  at::set_num_threads(3);
  const Settings base =
      GENERATE(Settings{}, Settings{"precision=bf16", "seq=25"}, Settings{"attention=eager"},
               Settings{"precision=fp16_mixed", "checkpointing=layer"}, Settings{"seq=200", "batch=1"});
  CAPTURE(text_of(base));
  CHECK(for_each_step(base, /*pairs=*/false, check_peak) > 25);
}
