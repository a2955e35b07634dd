// Runs the demo `block` on the CPU: checks events, and bytes kept for the backward pass against the closed form.
#include <sched.h>

#include <algorithm>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/block_model.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/live/run_driver.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::Bytes;
using record::Category;
using record::Phase;
using tests::DrivenRun;
using tests::RunDriver;
using tests::SettingMap;

constexpr std::int64_t kBatch = 2, kSeq = 64, kHidden = 256, kTokens = kBatch * kSeq;
const SettingMap kSmall{{"hidden_size", "256"}, {"batch", "2"}, {"seq", "64"}, {"device", "cpu"}};
const SettingMap kLlama{{"positions", "rope"}, {"norm", "rms_norm"},  {"mlp", "swiglu"},
                        {"dropout", "off"},    {"num_kv_heads", "1"}, {"biases", "off"}};

SettingMap small(const SettingMap& more) {
  SettingMap settings = more;
  settings.insert(kSmall.begin(), kSmall.end());
  return settings;
}

// Pins new threads to one processor, because the peak depends on how many of them run at once.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof all_, &all_);
    int first = 0;
    while (!CPU_ISSET(first, &all_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof all_, &all_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t all_;
};

DrivenRun run_block(const SettingMap& settings) {
  const OneProcessor one;
  RunDriver driver;
  DrivenRun run = driver.run(settings, true, {}, "block");
  REQUIRE(run.outcome().kind == record::OutcomeKind::kCompleted);
  return run;
}

// Event index at which the last backward pass begins.
std::uint64_t backward_of(const record::Recording& recording) {
  const auto& marks = recording.marks();
  const auto found =
      std::find_if(marks.rbegin(), marks.rend(), [](const auto& mark) { return mark.phase == Phase::kBackward; });
  REQUIRE(found != marks.rend());
  return found->event_index;
}

// Bytes kept for the backward pass, excluding the block's output.
Bytes kept(const DrivenRun& run, Bytes element) {
  const record::Ledger ledger(run.recording);
  const Bytes all =
      ledger.at(backward_of(run.recording) - 1).by_category[static_cast<std::size_t>(Category::kActivations)];
  return all - kTokens * kHidden * element;
}

// Bytes kept per token in 16 bits, by closed form.
Bytes counted(const SettingMap& settings) {
  record::Params params(experiments::find_demo("block")->schema);
  for (const auto& [key, value] : settings) REQUIRE(params.set(key, std::string_view(value)).ok());
  const llama::Architecture shape = experiments::block_model(params).value();
  Bytes sum = 0;
  for (const llama::Block block : {llama::Block::kNorms, llama::Block::kAttention, llama::Block::kMlp})
    sum += llama::numbers_of(shape, block, kSeq).kept;
  return sum;
}

// Storages and totals are counted from the run's first event.
std::vector<record::MemEvent> without_times(const record::Recording& recording) {
  std::vector<record::MemEvent> events(recording.events().begin(), recording.events().end());
  std::uint64_t first = ~std::uint64_t{0};
  for (const record::MemEvent& event : events) first = std::min(first, event.storage);
  const Bytes before = events.front().allocator_allocated - events.front().block;
  for (record::MemEvent& event : events) {
    event.time = 0;
    event.storage -= first;
    event.allocator_allocated -= before;
  }
  return events;
}

}  // namespace

TEST_CASE("a block's run matches the allocator's totals, has two equal passes, and ends with only weights") {
  const SettingMap settings = small(GENERATE(SettingMap{}, kLlama));
  const DrivenRun run = run_block(settings);
  CHECK(run.dropped == 0);
  const record::Ledger ledger(run.recording);
  CHECK(ledger.first_mismatch() == record::kNever);
  const auto steps = record::steps_of(run.recording);
  REQUIRE(steps.size() == 2);
  const auto peak_of = [&](const record::StepRange& step) {
    return ledger.peak(step.first, step.last).totals.by_category;
  };
  CHECK(peak_of(steps[0]) == peak_of(steps[1]));
  const auto of = [](const record::Totals& totals, Category kind) {
    return totals.by_category[static_cast<std::size_t>(kind)];
  };
  const std::uint64_t backward = backward_of(run.recording);
  CHECK(of(ledger.at(backward - 1), Category::kGradients) == 0);
  Bytes most = 0;
  for (std::uint64_t i = backward; i < steps[1].last; ++i)
    most = std::max(most, of(ledger.at(i), Category::kGradients));
  CHECK(most == of(ledger.at(backward), Category::kWeights));
  const record::Totals end = ledger.at(steps[1].last - 1);
  CHECK(of(end, Category::kGradients) == 0);
  CHECK(of(end, Category::kActivations) == 0);
  CHECK(of(end, Category::kWorkspace) == 0);
}

TEST_CASE("GPT-2's block keeps the closed form's bytes and LayerNorm's two numbers per row") {
  const Bytes element = GENERATE(2, 4);
  const SettingMap settings = small({{"storage", element == 2 ? "bf16" : "fp32"}});
  constexpr Bytes kLogSumExp = 4 * kHidden / 64, kMasks = 2 * kHidden;
  const Bytes operands = (counted(settings) - kLogSumExp) / 2 * element;
  const Bytes statistics = 2 * 2 * element;  // two norms; stored in the tensors' type on a CPU
  CHECK(kept(run_block(settings), element) == kTokens * (operands + kLogSumExp + kMasks + statistics));
}

TEST_CASE("Llama's block keeps the same as a training step's layer with PyTorch's operators in bf16") {
  // Two norms: fp32 input, normed input, result, a number per row. Attention: q, k, v, result, a log-sum-exp per head.
  // MLP: gate, silu(gate), up, their product. Llama 3.2 1B: 108,680 bytes per token.
  const auto of = [](Bytes hidden, Bytes kv_heads) {
    return 2 * ((4 + 2 + 2) * hidden + 4) + 2 * (2 * hidden + 2 * kv_heads * 64) + 4 * hidden / 64 + 4 * 2 * 4 * hidden;
  };
  CHECK(of(2048, 8) == 108'680);
  SettingMap settings = small(kLlama);
  settings["storage"] = "bf16";
  CHECK(kept(run_block(settings), 2) == kTokens * of(kHidden, 1));
}

TEST_CASE("each change of the block changes the kept bytes as its operators do") {
  constexpr Bytes kElement = 4, kMlp = 4 * kHidden;
  const auto kept_with = [](const SettingMap& changes) { return kept(run_block(small(changes)), kElement) / kTokens; };
  const Bytes gpt2 = kept_with({});
  CHECK(kept_with({{"positions", "rope"}}) == gpt2);
  // Composed RMSNorm keeps its input and the divided input, of H numbers each, but one number fewer per row than
  // LayerNorm.
  CHECK(kept_with({{"norm", "rms_norm"}}) == gpt2 + 2 * (kElement * kHidden - 4));
  // SwiGLU keeps gate, silu(gate), up and their product; GELU keeps up and its result.
  CHECK(kept_with({{"mlp", "swiglu"}}) == gpt2 + 2 * kElement * kMlp);
  CHECK(kept_with({{"dropout", "off"}}) == gpt2 - 2 * kHidden);
  CHECK(kept_with({{"num_kv_heads", "1"}}) == gpt2 - 2 * kElement * (kHidden - 64));
  CHECK(kept_with({{"biases", "off"}}) == gpt2);
}

TEST_CASE("equal settings give equal events") {
  const SettingMap settings = small(GENERATE(SettingMap{}, kLlama));
  const DrivenRun first = run_block(settings), second = run_block(settings);
  REQUIRE(first.recording.events().size() == second.recording.events().size());
  const bool same = without_times(first.recording) == without_times(second.recording);
  CHECK(same);
}

TEST_CASE("the engine refuses an impossible block with a sentence") {
  RunDriver driver;
  const DrivenRun run = driver.run(small({{"hidden_size", "100"}}), true, {}, "block");
  CHECK(run.outcome().kind == record::OutcomeKind::kRefused);
}
