// Processor time of predictions, in this process and the planner's.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "app/common/plan/predictions.h"
#include "app/common/plan/step_plan.h"
#include "demos/backend/backend.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

double own_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Processor time of all threads of a process (proc(5), schedstat: nanoseconds on a processor).
double seconds_of(const std::string& pid) {
  double nanoseconds = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
    double on_processor = 0;
    std::ifstream(thread.path() / "schedstat") >> on_processor;
    nanoseconds += on_processor;
  }
  return 1e-9 * nanoseconds;
}

class Planner {
 public:
  Planner()
      : predictions_([this] {
          auto planner = backend::make_prediction({{HEADROOM_BIN_DIR "/headroom-engine"}});
          planner_ = planner.get();
          return planner;
        }) {}

  app::Predictions& predictions() { return predictions_; }
  // Call it only between answers.
  double seconds() const { return own_seconds() + seconds_of(planner_.load()->facts().at("pid")); }

  double seconds_for(const record::Params& params) {
    const double before = seconds();
    const auto answer = predictions_.wait({std::string(experiments::training_step().id), params});
    REQUIRE(answer != nullptr);
    INFO(answer->refusal);
    REQUIRE(*answer);
    return seconds() - before;
  }

 private:
  std::atomic<backend::Backend*> planner_ = nullptr;
  app::Predictions predictions_;
};

record::Params with(const std::vector<std::string>& settings) {
  record::Params params(experiments::training_step().schema);
  for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return params;
}

const std::vector<std::string> k1B{"device=cuda", "model=llama-3.2-1b", "precision=bf16", "seq=1024"};
const std::vector<std::string> k8B{"device=cuda", "model=llama-3-8b", "precision=bf16", "seq=1024"};
const std::vector<std::string> k70B{
    "device=cuda",  "model=custom",   "precision=bf16", "seq=1024",      "hidden_size=8192", "intermediate_size=28672",
    "num_heads=64", "num_kv_heads=8", "head_dim=128",   "num_layers=80", "vocab_size=128256"};

record::Params changed(record::Params params, std::mt19937& random) {
  static const std::vector<std::string> kChanges{
      "checkpointing=layer", "checkpointing=selective", "checkpointing=off", "loss=flce",         "loss=plain",
      "loss=hf_2025",        "precision=bf16_mixed",    "precision=bf16",    "fused.rms_norm=on", "fused.swiglu=on",
      "fused.rope=on",       "optimizer=adamw_8bit",    "optimizer=adamw",   "adapters=lora",     "accumulate=2"};
  REQUIRE(params.set("batch", record::ParamValue(static_cast<std::int64_t>(1 + random() % 64))).ok());
  for (std::size_t i = 0; i < 1 + random() % 2; ++i) {
    record::Params next = params;
    REQUIRE(next.set_assignment(kChanges[random() % kChanges.size()]).ok());
    if (!experiments::refused_combination(next)) params = next;
  }
  return params;
}

struct Spread {
  double median = 0, percentile_95 = 0;  // seconds
};

Spread spread_of_changes(const std::vector<std::string>& settings, int changes) {
  Planner planner;
  const record::Params start = with(settings);
  (void)planner.predictions().wait({std::string(experiments::training_step().id), start});  // warm-up
  std::mt19937 random(7);
  std::vector<double> seconds;
  for (int i = 0; i < changes; ++i) {
    record::Params params = changed(start, random);
    // Settings never repeat, because answers are cached.
    REQUIRE(params.set("seq", record::ParamValue(std::int64_t{1000 + i})).ok());
    seconds.push_back(planner.seconds_for(params));
  }
  std::ranges::sort(seconds);
  const Spread spread{.median = seconds[seconds.size() / 2], .percentile_95 = seconds[seconds.size() * 95 / 100]};
  WARN("median " << 1e3 * spread.median << " ms, 95th percentile " << 1e3 * spread.percentile_95 << " ms");
  return spread;
}

}  // namespace

// Goals: 50 ms, 100 ms and 1 s of wall time on two cores, hence twice that in processor time. The 95th percentile
// allows for a machine half as fast as the one in docs/results/desk.md.
TEST_CASE("a change of the 1B is predicted within 0.1 s of processor time") {
  const Spread spread = spread_of_changes(k1B, 100);
  CHECK(spread.median < 0.1);
  CHECK(spread.percentile_95 < 0.2);
}

TEST_CASE("a change of an 8B of 32 layers is predicted within 0.2 s of processor time") {
  const Spread spread = spread_of_changes(k8B, 40);
  CHECK(spread.median < 0.2);
  CHECK(spread.percentile_95 < 0.4);
}

TEST_CASE("a change of a 70B of 80 layers is predicted within 2 s of processor time") {
  CHECK(spread_of_changes(k70B, 10).percentile_95 < 2);
}

TEST_CASE("the largest batch is found within twice 0.5 s for the 1B and 1 s for the 8B, in processor time") {
  const auto [settings, memory, seconds] =
      GENERATE(std::tuple(k1B, 24 * record::kGiB, 1.0), std::tuple(k8B, 140 * record::kGiB, 2.0));
  Planner planner;
  app::StepPlanner steps(&planner.predictions(), "");
  (void)planner.predictions().wait({std::string(experiments::training_step().id), with(settings)});
  const double before = planner.seconds();
  const auto largest = steps.largest(with(settings), "batch", {.name = "", .memory = memory, .process = {}});
  REQUIRE(largest);
  CHECK(*largest > 1);
  const double took = planner.seconds() - before;
  WARN("largest batch " << *largest << " in " << took << " s");
  CHECK(took < seconds);
}

TEST_CASE("a plan with 64 micro-batches and a card takes at most twice the processor time of one") {
  const std::vector<std::string> settings{"device=cuda", "model=llama-3-8b", "precision=bf16", "seq=2048", "batch=1"};
  const auto seconds_with = [&](const char* accumulate) {
    Planner planner;
    app::StepPlanner steps(&planner.predictions(), "");
    record::Params params = with(settings);
    REQUIRE(params.set_assignment(accumulate).ok());
    const app::PlannedCard card{.name = "", .memory = 80 * record::kGiB, .process = {}};
    const auto plan = steps.plan(params, {card});
    REQUIRE(plan);
    CHECK(plan->refusal.empty());
    CHECK(plan->why_formula.empty());
    return planner.seconds();
  };
  const double one = seconds_with("accumulate=1"), many = seconds_with("accumulate=64");
  WARN("one micro-batch " << one << " s, 64 micro-batches " << many << " s");
  CHECK(many < 2 * one);
}
