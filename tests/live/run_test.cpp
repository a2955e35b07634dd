// Complete runs of train_step on the CPU.
#include <algorithm>
#include <chrono>

#include "demos/engine/live/run/device_facts.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/live/run_driver.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::Category;
using record::MetricKind;
using record::OutcomeKind;
using tests::cpu_probe;
using tests::DrivenRun;
using tests::RunDriver;
using tests::SettingMap;

const SettingMap kTiny{{"model", "tiny"}, {"batch", "2"}, {"seq", "64"}, {"device", "cpu"}};

SettingMap tiny(const SettingMap& more = {}) {
  SettingMap settings = more;
  settings.insert(kTiny.begin(), kTiny.end());
  return settings;
}

std::vector<double> metric(const record::Recording& recording, MetricKind kind) {
  std::vector<double> values;
  for (const record::MetricSample& sample : recording.metrics()) {
    if (sample.kind == kind) values.push_back(sample.value);
  }
  return values;
}

}  // namespace

TEST_CASE("a recorded run matches the allocator's totals at every event") {
  RunDriver driver;
  const std::string checkpointing = GENERATE("off", "layer");
  const std::string precision = GENERATE("fp32", "bf16");
  CAPTURE(checkpointing, precision);
  cpu_probe().reset_peak();
  const DrivenRun run = driver.run(tiny({{"checkpointing", checkpointing}, {"precision", precision}}));
  REQUIRE(run.outcome().kind == OutcomeKind::kCompleted);
  CHECK(run.dropped == 0);
  const record::Ledger ledger(run.recording);
  CHECK(ledger.size() > 1000);
  CHECK(ledger.first_mismatch() == record::kNever);
  const record::Totals peak = ledger.peak().totals;
  CHECK(peak.allocated == cpu_probe().peak_bytes());
  CHECK(peak.by_category[static_cast<std::size_t>(Category::kWeights)] > 0);
  CHECK(peak.by_category[static_cast<std::size_t>(Category::kOptimizerState)] ==
        2 * peak.by_category[static_cast<std::size_t>(Category::kWeights)]);
  CHECK(100 * peak.by_category[static_cast<std::size_t>(Category::kOther)] < peak.allocated);
}

TEST_CASE("a recording's clock starts when its run does, not with the engine") {
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  RunDriver driver;
  for (int runs = 0; runs < 2; ++runs) {
    const record::Nanoseconds before = now();
    const record::Recording recording = driver.run(tiny()).recording;
    CHECK(recording.info().clock_start > before);
    CHECK(recording.info().clock_start + recording.marks().back().host_time < now());
  }
}

TEST_CASE("a recording names the text that the run trained on, with its hash") {
  RunDriver driver;
  const DrivenRun run = driver.run(tiny());
  const auto& provenance = run.recording.info().provenance;
  CHECK(provenance.at("text") == tests::text_to_train_on().filename().string());
  CHECK(provenance.at("text_sha1").size() == 40);
  CHECK(provenance.at("tokens") == "bytes of " + tests::text_to_train_on().filename().string());
  RunDriver planner(live::EngineRole::kPlanner);
  CHECK_FALSE(planner.run(tiny()).recording.info().provenance.contains("text_sha1"));  // a plan reads no data
  const DrivenRun other = driver.run(tiny({{"data", HEADROOM_SOURCE_DIR "/assets/data/course.txt"}}));
  CHECK(other.recording.info().provenance.at("text_sha1") == "9b5d13ea970bf5dc2cc9facf520d8d99243cc0a4");
}

TEST_CASE("a run reports what it saved and resumed, and fails if it could not save") {
  const tests::TemporaryFolder folder;
  const std::string saved = folder.path() / "saved";
  RunDriver driver;
  const DrivenRun first = driver.run(tiny({{"save", saved}, {"save_state", "on"}}));
  CHECK(first.outcome().kind == OutcomeKind::kCompleted);
  CHECK(first.recording.info().provenance.at("saved") == saved);
  const DrivenRun second = driver.run(tiny({{"resume", saved}}));
  CHECK(second.recording.info().provenance.at("resumed").ends_with(" steps of " + saved));
  CHECK(driver.run(tiny({{"save", saved}})).outcome().kind == OutcomeKind::kRefused);
  RunDriver planner(live::EngineRole::kPlanner);
  const DrivenRun planned = planner.run(tiny({{"save", saved}, {"resume", "/nowhere/at/all"}}));
  CHECK(planned.outcome().kind == OutcomeKind::kCompleted);
  CHECK_FALSE(planned.recording.info().provenance.contains("saved"));
}

TEST_CASE("a run has marks, steps, metrics and a falling loss") {
  RunDriver driver;
  const DrivenRun run = driver.run(tiny({{"steps", "8"}}));
  const record::Recording& recording = run.recording;
  CHECK(recording.info().demo == "train_step");
  CHECK(recording.info().device == record::DeviceKind::kCpu);
  CHECK(recording.info().params.at("batch") == "2");
  CHECK(recording.info().provenance.count("torch") == 1);
  CHECK(recording.info().device_memory > 0);
  const auto steps = record::steps_of(recording);
  REQUIRE(steps.size() == 8);
  for (const record::StepRange& step : steps) CHECK(step.complete);
  for (const record::Mark& mark : recording.marks()) CHECK(mark.device_time == mark.host_time);
  const auto losses = metric(recording, MetricKind::kLoss);
  REQUIRE(losses.size() == 8);
  CHECK(losses.back() < losses.front() - 0.5);
  const auto durations = metric(recording, MetricKind::kStepNanoseconds);
  const auto speeds = metric(recording, MetricKind::kTokensPerSecond);
  REQUIRE(durations.size() == 8);
  REQUIRE(speeds.size() == 8);
  CHECK(speeds[3] == Approx(2 * 64 * 1e9 / durations[3]));
}

TEST_CASE("an evaluation is a phase of its step, and its loss a metric of the run") {
  RunDriver driver;
  const DrivenRun run = driver.run(tiny({{"steps", "5"}, {"eval_every", "2"}}));
  const record::Recording& recording = run.recording;
  CHECK(metric(recording, MetricKind::kEvaluationLoss).size() == 2);
  CHECK(metric(recording, MetricKind::kLoss).size() == 5);
  CHECK(recording.info().provenance.at("held_out").starts_with("the last "));
  const auto steps = record::steps_of(recording);
  REQUIRE(steps.size() == 5);
  for (const record::StepRange& step : steps) {
    CHECK(step.complete);
    const auto begin = recording.marks().begin() + static_cast<std::ptrdiff_t>(step.first_mark);
    const auto end = recording.marks().begin() + static_cast<std::ptrdiff_t>(step.last_mark);
    const bool evaluates =
        std::any_of(begin, end, [](const record::Mark& mark) { return mark.phase == record::Phase::kEvaluation; });
    CHECK(evaluates == (step.step == 1 || step.step == 3));
  }
}

TEST_CASE("late relabels are complete when the optimizer begins") {
  RunDriver driver;
  const DrivenRun run = driver.run(tiny());
  const record::Ledger ledger(run.recording);
  int optimizers = 0;
  for (const record::Mark& mark : run.recording.marks()) {
    if (mark.phase != record::Phase::kOptimizer) continue;
    ++optimizers;
    const record::ByCategory alive = ledger.at(mark.event_index - 1).by_category;
    CHECK(alive[static_cast<std::size_t>(Category::kGradients)] == alive[static_cast<std::size_t>(Category::kWeights)]);
  }
  CHECK(optimizers >= 3);
}

TEST_CASE("an unrecorded run reports only metrics") {
  RunDriver driver;
  const DrivenRun run = driver.run(tiny(), /*record=*/false);
  CHECK(run.outcome().kind == OutcomeKind::kCompleted);
  CHECK(run.recording.events().empty());
  CHECK(run.recording.marks().empty());
  CHECK(metric(run.recording, MetricKind::kLoss).size() == 3);
}

TEST_CASE("exceeding a cap is an explained result that frees every byte, and the next run works") {
  RunDriver driver;
  const DrivenRun whole = driver.run(tiny());
  const record::Bytes peak = record::Ledger(whole.recording).peak().totals.allocated;
  const record::Bytes start = cpu_probe().live_bytes();

  // The first two runs fail in the forward or backward pass, the last while building the model.
  for (const record::Bytes cap : {peak - 1, peak / 2, peak / 8}) {
    CAPTURE(cap);
    cpu_probe().reset_peak();
    const DrivenRun run = driver.run(tiny({{"cap", std::to_string(cap)}}));
    REQUIRE(run.outcome().kind == OutcomeKind::kOutOfMemory);
    REQUIRE(run.outcome().out_of_memory);
    const record::OutOfMemoryFacts& facts = *run.outcome().out_of_memory;
    CHECK(facts.limit == cap);
    CHECK(facts.allocated <= cap);
    CHECK(facts.allocated + facts.requested > cap);
    CHECK_FALSE(facts.op.empty());
    record::Bytes sum = 0;
    for (const record::Bytes bytes : facts.by_category) sum += bytes;
    CHECK(sum == facts.allocated);
    CHECK(cpu_probe().peak_bytes() <= cap);
    CHECK(cpu_probe().live_bytes() == start);
    const record::Ledger ledger(run.recording);
    CHECK(run.recording.events().back().kind == record::EventKind::kOutOfMemory);
    CHECK(ledger.first_mismatch() == record::kNever);
    CHECK(ledger.at(ledger.size() - 1).allocated == facts.allocated);
    CHECK(ledger.at(ledger.size() - 1).by_category == facts.by_category);
    CHECK(run.outcome().message.find("cap") != std::string::npos);
  }

  const DrivenRun again = driver.run(tiny());
  CHECK(again.outcome().kind == OutcomeKind::kCompleted);
  CHECK(record::Ledger(again.recording).peak().totals.allocated == peak);
  CHECK(cpu_probe().live_bytes() == start);
}

TEST_CASE("a CPU run that exceeds the machine's memory ends as a result") {
  const record::Bytes start = cpu_probe().live_bytes();
  record::Bytes available = 50 * record::kMiB;
  live::MachineFacts machine = live::machine_facts(/*look_for_gpu=*/false);
  machine.available_memory = [&available] { return available; };
  RunDriver driver(std::move(machine));
  const std::string cap = GENERATE("0", "1073741824");  // no cap, and one above the machine's memory
  CAPTURE(cap);
  const DrivenRun run = driver.run(tiny({{"cap", cap}}));
  REQUIRE(run.outcome().kind == OutcomeKind::kOutOfMemory);
  REQUIRE(run.outcome().out_of_memory);
  const record::OutOfMemoryFacts& facts = *run.outcome().out_of_memory;
  CHECK(facts.limit == start + 45 * record::kMiB);  // a tenth of the free memory stays free
  CHECK(facts.allocated <= facts.limit);
  CHECK(facts.allocated + facts.requested > facts.limit);
  CHECK(run.recording.events().back().kind == record::EventKind::kOutOfMemory);
  CHECK(run.recording.events().back().block == facts.requested);  // refused by the machine, not a cap
  CHECK(run.outcome().message.find("this machine had 45") != std::string::npos);
  CHECK(cpu_probe().live_bytes() == start);
  // Queried for each run: other programs come and go.
  available = record::kGiB;
  CHECK(driver.run(tiny()).outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("a cancelled run stops at its next layer and frees everything") {
  RunDriver driver;
  driver.run(tiny());
  const record::Bytes start = cpu_probe().live_bytes();
  std::size_t marks_when_asked = 0;
  const DrivenRun run = driver.run(tiny({{"steps", "10000"}}), true, [&](const record::Recording& so_far) {
    if (marks_when_asked != 0 || so_far.marks().size() < 30) return;
    marks_when_asked = so_far.marks().size();
    driver.worker().cancel(driver.last_run());
  });
  CHECK(run.outcome().kind == OutcomeKind::kCancelled);
  CHECK(run.recording.marks().size() < 10'000);  // of about 200,000 in all
  CHECK(cpu_probe().live_bytes() == start);
  CHECK(driver.run(tiny()).outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("an impossible run is refused with a sentence and leaves nothing allocated") {
  RunDriver driver;
  CHECK(driver.run(tiny({{"batch", "0"}})).outcome().kind == OutcomeKind::kRefused);
  CHECK(driver.run(tiny({{"hue", "blue"}})).outcome().kind == OutcomeKind::kRefused);
  const DrivenRun no_text = driver.run(tiny({{"data", "/nowhere/text.txt"}}));
  CHECK(no_text.outcome().kind == OutcomeKind::kRefused);
  CHECK(no_text.outcome().message.find("/nowhere/text.txt") != std::string::npos);
  SettingMap on_gpu = kTiny;
  on_gpu["device"] = "cuda";
  const DrivenRun no_gpu = driver.run(on_gpu);
  CHECK(no_gpu.outcome().kind == OutcomeKind::kRefused);
  CHECK(no_gpu.outcome().message.find("device=cpu") != std::string::npos);
  CHECK(driver.run(tiny()).outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("a second run is not accepted during a run") {
  RunDriver driver;
  bool asked = false;
  driver.run(tiny(), true, [&](const record::Recording& so_far) {
    if (asked || so_far.marks().empty()) return;
    asked = true;
    CHECK_FALSE(driver.worker().submit({.run = 99, .demo = "train_step", .params = kTiny}).taken);
  });
  CHECK(asked);
}
