// Benchmarks on the CPU: each form of each kernel runs, with correct results and memory.
#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>

#include <ATen/ATen.h>

#include "demos/engine/experiments/bench_clock.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/experiments/demo.h"
#include "tests/support/catch.h"

using namespace headroom;
using experiments::BenchSampler;
using record::Measurement;

namespace {

class CountingMeter final : public experiments::MemoryMeter {
 public:
  record::Bytes allocated() const override { return 1000; }
  record::Bytes peak() const override { return 1000 + peak_; }
  void reset() override { ++resets; }
  int resets = 0;

 private:
  record::Bytes peak_ = 4096;
};

std::vector<Measurement> measured(std::initializer_list<const char*> settings, CountingMeter* meter = nullptr,
                                  const std::atomic<bool>* cancel = nullptr) {
  record::Params params(experiments::find_demo("bench")->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  const experiments::RunSetting setting{
      .place = {.device = at::Device(at::kCPU), .target = record::DeviceKind::kCpu},
      .course_text = {},
      .cancel = cancel,
      .memory = meter,
  };
  auto made = experiments::make_run(*experiments::find_runner("bench"), params, setting);
  REQUIRE(made.ok());
  experiments::DemoRun& run = *made.value();
  std::vector<Measurement> all;
  for (int step = 0; step < run.steps(); ++step) {
    if (run.step(step) == experiments::StepResult::kCancelled) break;
    for (Measurement& row : run.report().measurements) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace

TEST_CASE("every form of every kernel is timed, with at most twice the eager form's error") {
  CountingMeter meter;
  for (const char* kernel : {"kernel=rms_norm", "kernel=add_rms_norm", "kernel=layer_norm", "kernel=swiglu",
                             "kernel=geglu", "kernel=cross_entropy", "kernel=fused_linear_cross_entropy",
                             "kernel=adamw", "kernel=adamw_8bit", "kernel=nf4"}) {
    INFO(kernel);
    const auto rows = measured({kernel, "quick=on", "rows=64", "width=96"}, &meter);
    REQUIRE(rows.size() > 1);
    CHECK(rows.front().panel == "copy");
    std::map<std::string, double> eager;
    int fused = 0;
    for (const Measurement& row : rows) {
      CHECK(row.samples >= 5);
      CHECK((row.low <= row.median && row.median <= row.high && row.median > 0));
      if (row.variant == "eager") eager[row.pass] = row.error;
      if (row.variant != "fused") continue;
      ++fused;
      REQUIRE(eager.contains(row.pass));
      CHECK(row.error >= 0);
      CHECK(row.error <= 2 * eager[row.pass] + 2 * std::numeric_limits<float>::epsilon());
      // For the output layer's loss, extra_memory excludes gradients, which this meter does not count.
      if (row.pass == "full" && row.vocab == 0) CHECK(row.extra_memory == 4096);
    }
    CHECK(fused >= 1);
  }
  CHECK(meter.resets > 10);
}

TEST_CASE("a form's memory is the allocator's peak beyond its inputs") {
  CountingMeter meter;
  for (const Measurement& row : measured({"kernel=rms_norm", "quick=on", "rows=8", "width=64"}, &meter)) {
    if (row.variant == "copy") continue;
    CHECK(row.extra_memory == (row.pass == "backward" ? -1 : 4096));
  }
}

TEST_CASE("a cancelled benchmark stops within a case") {
  const std::atomic<bool> cancel = true;
  CHECK(measured({"kernel=rms_norm", "quick=on", "rows=8", "width=64"}, nullptr, &cancel).empty());
}

TEST_CASE("a benchmark cannot be predicted, and an unknown panel is refused") {
  record::Params params(experiments::find_demo("bench")->schema);
  const experiments::DemoRunner& bench = *experiments::find_runner("bench");
  experiments::RunSetting setting{.place = {.device = at::Device(at::kMeta)}, .course_text = {}};
  CHECK_FALSE(experiments::make_run(bench, params, setting).ok());
  setting.place.device = at::Device(at::kCPU);
  REQUIRE(params.set_assignment("panel=report").ok());
  REQUIRE(params.set_assignment("kernel=adamw").ok());
  CHECK_FALSE(experiments::make_run(bench, params, setting).ok());
}

TEST_CASE("samples are taken in turns, at least the requested number, until they agree") {
  std::vector<int> order;
  const std::vector<BenchSampler> steady{[&] { return order.push_back(0), 100.0; },
                                         [&] { return order.push_back(1), 50.0; }};
  const auto never = [] { return false; };
  const auto times = experiments::time_in_turns(steady, {.least = 10, .most = 100, .seconds = 10}, never);
  REQUIRE(times);
  CHECK(times->at(0).samples == 10);
  CHECK(times->at(1).median == 50);
  CHECK((order[0] == 0 && order[1] == 1 && order[2] == 0));

  int calls = 0;
  const std::vector<BenchSampler> wild{[&] { return ++calls % 2 == 0 ? 100.0 : 200.0; }};
  const auto more = experiments::time_in_turns(wild, {.least = 10, .most = 40, .seconds = 10}, never);
  CHECK(more->at(0).samples == 40);
  CHECK((more->at(0).low == 100 && more->at(0).high == 200));
  CHECK_FALSE(experiments::time_in_turns(steady, {}, [] { return true; }));
}
