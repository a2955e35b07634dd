// A step on meta makes the real allocations, and each has a label.
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>

#include <ATen/Parallel.h>

#include "demos/engine/experiments/train_step_run.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using record::Category;

std::vector<Allocation> whole_run(const Settings& settings, const RunPlace& place) {
  std::unique_ptr<TrainStepRun> run;
  return log_of(place, [&] {
    run = make_run(settings, place);
    run->step(0);
  });
}

Category final_category(const std::vector<Allocation>& log, std::int64_t storage) {
  Category category = Category::kOther;
  for (const Allocation& a : log) {
    if (a.storage == storage && a.kind != Allocation::Kind::kFree) category = a.tag.category;
  }
  return category;
}

}  // namespace

TEST_CASE("a planned step has the CPU step's allocations, one by one and by name") {
  install_allocation_log();
  at::set_num_threads(1);
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  const std::string seq = GENERATE("seq=24", "seq=200", "seq=800");  // attention's three tile sizes
  const std::string kv_heads = GENERATE("num_kv_heads=2", "num_kv_heads=4");
  CAPTURE(checkpointing, seq, kv_heads);
  const Settings settings = joined(kSmallSettings, {kv_heads, seq, checkpointing});
  const std::vector<Allocation> real = third_step(settings, kCpu);
  REQUIRE(real.size() > 200);
  check_equal(real, third_step(settings, kPlanForCpu));
}

TEST_CASE("the peak of a whole run is planned to the byte, set-up included") {
  install_allocation_log();
  at::set_num_threads(1);
  const Settings settings{"model=tiny", "seq=32", "batch=1"};
  CHECK(peak_by_category(whole_run(settings, kCpu)) == peak_by_category(whole_run(settings, kPlanForCpu)));
}

TEST_CASE("all memory of a step has a category, and little of it is 'other'") {
  install_allocation_log();
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  const Settings settings{checkpointing};
  const auto log = whole_run(settings, kCpu);
  const record::ByCategory peak = peak_by_category(log);
  const auto at_peak = [&](Category category) { return peak[static_cast<std::size_t>(category)]; };

  const record::Bytes weights = 4 * make_run(settings, kPlanForCpu)->num_parameters();
  CHECK(at_peak(Category::kWeights) == weights);
  CHECK(at_peak(Category::kOptimizerState) == 2 * weights);
  CHECK(at_peak(Category::kActivations) > 0);
  CHECK(at_peak(Category::kLogits) > 0);
  CHECK(at_peak(Category::kOther) > 0);
  CHECK(at_peak(Category::kOther) * 100 < sum(peak));

  // Before the optimizer, only gradients are alive besides weights and states.
  record::ByCategory live{};
  for (const Allocation& a : log) {
    if (a.tag.phase == record::Phase::kOptimizer) break;
    if (a.kind == Allocation::Kind::kRelabel) continue;
    live[static_cast<std::size_t>(final_category(log, a.storage))] +=
        a.kind == Allocation::Kind::kAlloc ? a.bytes : -a.bytes;
  }
  CHECK(live[static_cast<std::size_t>(Category::kGradients)] == weights);
  CHECK(live[static_cast<std::size_t>(Category::kActivations)] == 0);
  CHECK(live[static_cast<std::size_t>(Category::kLogits)] == 4);  // the loss
  CHECK(live[static_cast<std::size_t>(Category::kWorkspace)] == 0);
}

TEST_CASE("every allocation of a step names its operator, also in backward") {
  install_allocation_log();
  const auto log = third_step({"seq=32"}, kPlanForCpu);
  std::set<std::string> forward, backward;
  for (const Allocation& a : log) {
    if (a.kind != Allocation::Kind::kAlloc) continue;
    CAPTURE(to_string(a));
    const std::string op(record::operator_name(a.tag.op));
    CHECK_FALSE(op.empty());
    (a.tag.phase == record::Phase::kBackward ? backward : forward).insert(op);
    if (a.tag.category == Category::kLogits) CHECK((op == "lm_head" || op.starts_with("loss.")));
  }
  for (const char* op :
       {"embedding", "attention.rms_norm", "attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.rope",
        "attention.scores", "attention.o_proj", "mlp.rms_norm", "mlp.gate_proj", "mlp.up_proj", "mlp.silu",
        "mlp.product", "mlp.down_proj", "final.rms_norm", "lm_head", "loss.log_softmax"}) {
    CAPTURE(op);
    CHECK(forward.count(op) == 1);
    CHECK(backward.count(op) == 1);
  }
}

TEST_CASE("the plan of a GPU step uses the GPU's attention kernels") {
  install_allocation_log();
  const auto names_repeat = [](const std::vector<Allocation>& log) {
    return std::any_of(log.begin(), log.end(),
                       [](const Allocation& a) { return record::operator_name(a.tag.op) == "attention.repeat_kv"; });
  };
  CHECK(names_repeat(whole_run({"precision=fp32"}, kPlanForGpu)));  // memory-efficient attention repeats heads
  CHECK_FALSE(names_repeat(whole_run({"precision=bf16"}, kPlanForGpu)));
  CHECK_FALSE(names_repeat(whole_run({"precision=fp32"}, kPlanForCpu)));
}

TEST_CASE("memory per token of Llama 3.2 1B in bf16 equals the measured eager Hugging Face model's") {
  install_allocation_log();
  // transformers 5.17.0 on an H200, T = 1024: the peak grows by 3,294,348 bytes per token, or 1,621,004 with every
  // layer checkpointed: L (16H + 4Q + 4·K·D + 8F + 4A + 8) + 6H + 4 + 2H + 12V + 8; if checkpointed, the first term is
  // L·2H.
  const auto peak = [](const char* batch, const char* checkpointing) {
    return sum(peak_by_category(
        whole_run({"model=llama-3.2-1b", "precision=bf16", "seq=1024", batch, checkpointing}, kPlanForGpu)));
  };
  constexpr std::int64_t kTokens = 8 * 1024;
  CHECK((peak("batch=16", "checkpointing=off") - peak("batch=8", "checkpointing=off")) / kTokens == 3'294'348 + 8);
  CHECK((peak("batch=16", "checkpointing=layer") - peak("batch=8", "checkpointing=layer")) / kTokens == 1'621'004 + 8);
}
