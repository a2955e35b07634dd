// Sweeps: plans, and the driver with a scripted backend.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>

#include "app/common/sweep_plan.h"
#include "app/common/sweep.h"
#include "demos/experiments/technique_table.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::SweepDriver;
using app::SweepPlan;
using app::SweepState;
using record::OutcomeKind;
using Words = std::vector<std::string>;

namespace {

const experiments::DemoInfo& train_step() { return *experiments::find_demo("train_step"); }

SweepPlan plan_over(const Words& overs) {
  const auto axes = experiments::sweep_axes(train_step().schema, overs).value();
  return app::plan_over(train_step(), record::Params(train_step().schema), axes);
}

// Ends each run as scripted, one poll after its start.
struct Script {
  std::deque<OutcomeKind> outcomes;  // empty: completed
  int backends = 0;
  Words runs;  // "1:batch=4": backend and batch
};

class ScriptedBackend final : public backend::Backend {
 public:
  explicit ScriptedBackend(Script& script) : script_(script), number_(++script.backends) {}

  record::Status start(const backend::RunRequest& request) override {
    script_.runs.push_back(std::to_string(number_) + ":batch=" + request.params.as_text("batch"));
    OutcomeKind kind = OutcomeKind::kCompleted;
    if (!script_.outcomes.empty()) {
      kind = script_.outcomes.front();
      script_.outcomes.pop_front();
    }
    auto run = std::make_shared<record::Recording>(kind == OutcomeKind::kOutOfMemory ? out_of_memory_recording()
                                                                                     : small_recording());
    record::RunInfo info = run->info();
    info.provenance["created"] = "now";
    info.provenance["revision"] = "r" + std::to_string(number_);
    run->set_info(info);
    if (kind != OutcomeKind::kOutOfMemory)
      run->set_outcome({kind, kind == OutcomeKind::kCompleted ? "" : "It broke.", {}});
    recording_ = std::move(run);
    state_ = backend::RunState::kRunning;
    return record::Ok{};
  }
  void cancel() override {
    auto run = std::make_shared<record::Recording>(*recording_);
    run->set_outcome({OutcomeKind::kCancelled, "Cancelled.", {}});
    recording_ = std::move(run);
  }
  bool poll() override {
    state_ = backend::RunState::kFinished;
    return true;
  }
  backend::RunState state() const override { return state_; }
  const backend::RunProgress& progress() const override { return progress_; }
  std::shared_ptr<const record::Recording> recording() const override { return recording_; }
  const std::optional<record::Error>& write_error() const override { return no_error_; }
  const std::vector<protocol::DeviceFacts>& devices() const override { return devices_; }
  const std::optional<std::string>& trouble() const override { return trouble_; }
  int descriptor() const override { return -1; }

 private:
  Script& script_;
  int number_;
  backend::RunState state_ = backend::RunState::kIdle;
  backend::RunProgress progress_;
  std::shared_ptr<const record::Recording> recording_;
  std::optional<record::Error> no_error_;
  std::vector<protocol::DeviceFacts> devices_;
  std::optional<std::string> trouble_;
};

SweepDriver open(Script& script, SweepPlan plan, std::optional<std::string> file = {}) {
  std::optional<std::filesystem::path> path;
  if (file) path = *file;
  auto driver = SweepDriver::open(
      std::move(plan), [&script] { return std::make_unique<ScriptedBackend>(script); }, path);
  REQUIRE(driver);
  return std::move(driver).value();
}

void finish(SweepDriver& driver) {
  for (int i = 0; i < 1000 && driver.state() == SweepState::kRunning; ++i) driver.poll();
  REQUIRE(driver.state() != SweepState::kRunning);
}

}  // namespace

TEST_CASE("a plan has every combination, with the first key varying fastest") {
  const SweepPlan plan = plan_over({"batch=1,8", "seq=64,128", "precision=fp32,bf16"});
  REQUIRE(plan.points.size() == 8);
  CHECK(plan.name == "batch × seq × precision");
  CHECK(plan.points[0].series == "seq=64 precision=fp32");
  CHECK(plan.points[1].label == "batch=8");
  CHECK(plan.points[2].series == "seq=128 precision=fp32");
  CHECK(plan.points[7].params.as_text("precision") == "bf16");
  CHECK(plan.points[7].params.integer("seq") == 128);
  const auto common = app::common_settings(plan);
  CHECK(common.count("batch") == 0);
  CHECK(common.at("steps") == "3");
  CHECK(app::describe_points(plan_over({"batch=1,8"})) == "batch=1: batch=1; batch=8: batch=8");
}

TEST_CASE("invalid axes are refused with the reason") {
  const auto refusal = [](const Words& overs) {
    const auto axes = experiments::sweep_axes(train_step().schema, overs);
    REQUIRE_FALSE(axes);
    return axes.error().message;
  };
  CHECK(holds(refusal({"batch"}), "such as batch=1,4,8"));
  CHECK(holds(refusal({"batsh=1,2"}), "batch"));
  CHECK(holds(refusal({"batch=1,,2"}), "batch"));
  CHECK(holds(refusal({"batch=1,2,"}), "batch"));
  CHECK(holds(refusal({"batch=0"}), "batch"));
  CHECK(holds(refusal({"batch=4,4"}), "twice"));
  CHECK(holds(refusal({"batch=1,2", "batch=4"}), "twice"));
}

TEST_CASE("each rung of the ladder has the switches below it, in any order") {
  const record::Params naive = app::naive_settings();
  const SweepPlan plan = app::plan_ladder(naive, {}).value();
  const auto by_default =
      std::ranges::count_if(experiments::ladder_techniques(), [](const auto* each) { return each->rung.by_default; });
  REQUIRE(std::ssize(plan.points) == 1 + by_default);
  CHECK(plan.points[0].label == "naive");
  CHECK(plan.points[0].params == naive);
  CHECK(plan.points.back().params.text("loss") == "flce");
  CHECK(plan.points.back().params.on("offload.parameters"));

  const Words order{"checkpointing", "bf16"};
  const SweepPlan short_plan = app::plan_ladder(naive, order).value();
  REQUIRE(short_plan.points.size() == 3);
  CHECK(short_plan.points[1].params.text("precision") == "fp32");
  CHECK(short_plan.points[2].params.text("checkpointing") == "layer");

  // Weights cannot be streamed while those of every layer are kept for the backward pass: the rung is refused, and the
  // next rung omits its switch.
  const Words refused{"offload_parameters", "flce"};
  Script script;
  SweepDriver driver = open(script, app::plan_ladder(naive, refused).value());
  finish(driver);
  const auto& points = driver.recording()->sweep_points();
  REQUIRE(points.size() == 3);
  CHECK(points[1].outcome.kind == OutcomeKind::kRefused);
  CHECK(holds(points[1].outcome.message, "offload.parameters=on cannot be combined with"));
  CHECK(points[2].params.at("offload.parameters") == "off");
  CHECK(script.runs.size() == 2);

  CHECK(holds(app::plan_ladder(naive, Words{"checkpoint"}).error().message, "the nearest is checkpointing"));
  CHECK(holds(app::plan_ladder(naive, Words{"flce", "flce"}).error().message, "twice"));
}

TEST_CASE("the report's plan has the points of its experiment") {
  const SweepPlan plan = app::plan_report(app::report_params(false), false, "/t");
  CHECK(plan.points.size() == 15 + 15 + 17);  // 8 batches and 8 lengths share one point; liger_all has two more
  int kept = 0;
  for (const app::PlannedPoint& point : plan.points) {
    const record::Params& params = point.params;
    CHECK(params.text("model") == "llama-3.2-1b");
    CHECK(params.text("precision") == "fp16_mixed");
    CHECK(params.text("checkpointing") == "layer");
    CHECK(params.text("offload.optimizer") == "host");
    CHECK(params.on("offload.parameters"));
    CHECK(params.as_text("cap") == "24910810317");  // 23.2 GiB
    CHECK_FALSE(params.on("fused.cross_entropy"));
    CHECK(params.text("loss") == (point.series == "liger_all" ? "flce" : "hf_2024"));
    CHECK(params.on("keep_output"));
    CHECK(params.on("fused.rms_norm") == (point.series != "hf"));
    CHECK((params.integer("seq") == 1024 || params.integer("batch") == 4));
    kept += !point.keep.empty();
  }
  CHECK(kept == 4);  // the timelines of figures 12 and 15
}

TEST_CASE("a point has the results of its run") {
  Script script;
  SweepDriver driver = open(script, plan_over({"batch=4"}));
  CHECK_FALSE(driver.recording()->outcome());
  finish(driver);
  REQUIRE(driver.recording()->sweep_points().size() == 1);
  const record::SweepPoint& point = driver.recording()->sweep_points().front();
  CHECK(point.peak.allocated == kSmallPeak);
  CHECK(point.peak.by_category[static_cast<std::size_t>(record::Category::kLogits)] == 16 * record::kMiB);
  CHECK(point.peak.phase == record::Phase::kLoss);
  CHECK(point.tokens_per_second == 200);
  CHECK(point.loss == 5.25);
  CHECK(point.steps == 2);
  CHECK(point.params.at("batch") == "4");
  CHECK(driver.recording()->outcome()->kind == OutcomeKind::kCompleted);
  CHECK(driver.recording()->info().provenance.at("sweep") == "batch");
}

TEST_CASE("a new engine takes the next point after out of memory or a lost engine") {
  Script script{.outcomes = {OutcomeKind::kCompleted, OutcomeKind::kCompleted, OutcomeKind::kOutOfMemory,
                             OutcomeKind::kEngineLost, OutcomeKind::kFailed},
                .runs = {}};
  SweepDriver driver = open(script, plan_over({"batch=1,2,3,4,5,6"}));
  finish(driver);
  CHECK(script.runs == Words{"1:batch=1", "1:batch=2", "1:batch=3", "2:batch=4", "3:batch=5", "4:batch=6"});
  const auto& points = driver.recording()->sweep_points();
  REQUIRE(points.size() == 6);
  CHECK(points[2].outcome.kind == OutcomeKind::kOutOfMemory);
  CHECK(points[2].outcome.out_of_memory);
  CHECK(points[3].outcome.message == "It broke.");
  CHECK(points[5].outcome.kind == OutcomeKind::kCompleted);
  CHECK(points[1].provenance.empty());
  CHECK(points[5].provenance.at("revision") == "r4");  // not the revision of the first point's engine
}

TEST_CASE("a sweep continues after its file's last point and repeats failed points") {
  const TemporaryFolder folder;
  const std::string file = folder / "s.hrec";
  Script script{.outcomes = {OutcomeKind::kCompleted, OutcomeKind::kEngineLost, OutcomeKind::kOutOfMemory}, .runs = {}};
  {
    SweepDriver driver = open(script, plan_over({"batch=1,2,3,4"}), file);
    while (driver.done() < 3) driver.poll();
    while (driver.current() == nullptr) driver.poll();
    driver.stop();
    CHECK(driver.state() == SweepState::kStopping);
    driver.poll();
    CHECK(driver.state() == SweepState::kStopped);
    CHECK(driver.done() == 3);  // the cancelled one is not kept
  }
  CHECK(record::Recording::read(file).value().truncated());
  script.runs.clear();
  {
    SweepDriver driver = open(script, plan_over({"batch=1,2,3,4"}), file);
    CHECK(driver.found() == 2);
    finish(driver);
    CHECK(driver.done() == 4);
  }
  REQUIRE(script.runs.size() == 2);
  CHECK(script.runs[0].ends_with("batch=2"));
  CHECK(script.runs[1].ends_with("batch=4"));
  const auto whole = record::Recording::read(file);
  REQUIRE(whole);
  CHECK_FALSE(whole.value().truncated());
  REQUIRE(whole.value().sweep_points().size() == 4);
  for (int i = 0; i < 4; ++i)
    CHECK(whole.value().sweep_points()[static_cast<std::size_t>(i)].label == "batch=" + std::to_string(i + 1));
  script.runs.clear();
  SweepDriver again = open(script, plan_over({"batch=1,2,3,4"}), file);
  CHECK(again.state() == SweepState::kFinished);
  CHECK(script.runs.empty());
  CHECK(folder.files() == Words{"s.hrec"});
}

TEST_CASE("a point refused by an engine is repeated, one refused by the table of combinations is not") {
  const TemporaryFolder folder;
  const std::string file = folder / "s.hrec";
  Script script{.outcomes = {OutcomeKind::kRefused}, .runs = {}};
  SweepDriver first = open(script, plan_over({"batch=1,2"}), file);
  finish(first);
  script.runs.clear();
  SweepDriver second = open(script, plan_over({"batch=1,2"}), file);
  CHECK(second.found() == 1);
  finish(second);
  REQUIRE(script.runs.size() == 1);
  CHECK(script.runs[0].ends_with("batch=1"));
  CHECK(second.recording()->sweep_points()[0].outcome.kind == OutcomeKind::kCompleted);

  const std::string other = folder / "t.hrec";
  SweepDriver third = open(script, plan_over({"offload.checkpoints=on,off"}), other);
  finish(third);
  CHECK(open(script, plan_over({"offload.checkpoints=on,off"}), other).state() == SweepState::kFinished);
}

TEST_CASE("a file of another sweep is refused and not changed") {
  const TemporaryFolder folder;
  const std::string file = folder / "s.hrec";
  Script script;
  SweepDriver first = open(script, plan_over({"batch=1,2"}), file);
  finish(first);
  const std::string before = read_file(file);
  const auto refusal = [&](SweepPlan plan, const std::string& path) {
    const auto driver = SweepDriver::open(
        std::move(plan), [&script] { return std::make_unique<ScriptedBackend>(script); }, path);
    REQUIRE_FALSE(driver);
    CHECK(holds(driver.error().message, "--restart"));
    return driver.error().message;
  };
  CHECK(holds(refusal(plan_over({"batch=1,2,4"}), file), "its points are different"));
  CHECK(holds(refusal(plan_over({"seq=64,128"}), file), "it contains the sweep \"batch\""));
  record::Params other(train_step().schema);
  REQUIRE(other.set("precision", "bf16").ok());
  CHECK(holds(
      refusal(app::plan_over(train_step(), other, experiments::sweep_axes(other.schema(), Words{"batch=1,2"}).value()),
              file),
      "precision is fp32 there, not bf16"));
  REQUIRE(small_recording().write(folder / "run.hrec").ok());
  CHECK(holds(refusal(plan_over({"batch=1,2"}), folder / "run.hrec"), "a recording of a single run"));
  write_file(folder / "text.hrec", "no recording");
  CHECK(holds(refusal(plan_over({"batch=1,2"}), folder / "text.hrec"), "not a Headroom recording"));
  CHECK(read_file(file) == before);
  auto replaced = SweepDriver::open(
      plan_over({"batch=1,2,4"}), [&script] { return std::make_unique<ScriptedBackend>(script); }, file, true);
  REQUIRE(replaced);
  finish(replaced.value());
  CHECK(record::Recording::read(file).value().sweep_points().size() == 3);
}
