// Complete runs on a GPU: device times, caps, running out of memory.
#include <chrono>
#include <cstdlib>
#include <string>

#include "demos/engine/live/probes/cuda_allocator.h"
#include "demos/nvml/nvml.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/live/run_driver.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace std::chrono_literals;
using record::Bytes;
using record::kGiB;
using record::OutcomeKind;
using tests::DrivenRun;
using tests::RunDriver;
using tests::SettingMap;

SettingMap llama_1b(const SettingMap& more = {}) {
  SettingMap settings = more;
  settings.insert(
      {{"model", "llama-3.2-1b"}, {"precision", "bf16"}, {"batch", "2"}, {"seq", "1024"}, {"device", "cuda"}});
  return settings;
}

live::cuda_allocator::Stats stats() { return live::cuda_allocator::stats(0); }

}  // namespace

TEST_CASE("every mark has a device time, in order, and the driver's counters are recorded") {
  RunDriver driver(live::EngineRole::kRunner, /*look_for_gpu=*/true);
  const DrivenRun run = driver.run(llama_1b({{"steps", "5"}}));
  REQUIRE(run.outcome().kind == OutcomeKind::kCompleted);
  CHECK(run.dropped == 0);
  const record::Recording& recording = run.recording;
  CHECK(recording.info().device == record::DeviceKind::kGpu);
  CHECK(recording.info().device_memory > 0);
  REQUIRE(recording.marks().size() > 5 * 40);
  CHECK(recording.marks().front().device_time == recording.marks().front().host_time);
  bool in_order = true, behind_the_host = true;
  for (std::size_t i = 1; i < recording.marks().size(); ++i) {
    const record::Mark& mark = recording.marks()[i];
    in_order = in_order && mark.device_time >= recording.marks()[i - 1].device_time;
    // The device cannot reach a mark before the host sets it. The two clocks may differ by 0.5 ms.
    behind_the_host = behind_the_host && mark.device_time > mark.host_time - 500'000;
  }
  CHECK(in_order);
  CHECK(behind_the_host);
  for (const record::StepRange& step : record::steps_of(recording)) CHECK(step.complete);
  CHECK(record::Ledger(recording).first_mismatch() == record::kNever);
  if (nvml::Driver::open()) CHECK(recording.counters().size() > 3);
  CHECK(stats().allocated == 0);
  CHECK(stats().reserved == 0);
}

TEST_CASE("timed GEMMs change no event of a run, and provenance names their source") {
  RunDriver driver(live::EngineRole::kRunner, true);
  const auto run_with = [&](const char* products, const SettingMap& settings) {
    REQUIRE(setenv("HEADROOM_PRODUCTS", products, 1) == 0);
    DrivenRun run = driver.run(settings);
    unsetenv("HEADROOM_PRODUCTS");
    return run;
  };
  const SettingMap graph{{"cuda_graph", "on"}, {"steps", "5"}}, fp8{{"gemm", "fp8"}, {"steps", "2"}};
  for (const SettingMap& more : {SettingMap{{"steps", "3"}}, graph, fp8}) {
    const SettingMap settings = llama_1b(more);
    const DrivenRun libtorch = run_with("libtorch", settings), timed = run_with("timed", settings);
    REQUIRE(libtorch.outcome().kind == OutcomeKind::kCompleted);
    REQUIRE(timed.outcome().kind == OutcomeKind::kCompleted);
    CHECK(libtorch.recording.info().provenance.at("products") == "LibTorch's choice, as HEADROOM_PRODUCTS says");
    CHECK(timed.recording.info().provenance.at("products").starts_with("timed here"));
    CHECK_FALSE(timed.recording.info().provenance.contains("products_trouble"));
    const auto &before = libtorch.recording.events(), &after = timed.recording.events();
    REQUIRE(before.size() == after.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const record::MemEvent &a = before[i], &b = after[i];
      const bool same = a.kind == b.kind && a.requested == b.requested && a.block == b.block &&
                        a.category == b.category && a.phase == b.phase && a.layer == b.layer &&
                        libtorch.recording.op_name(a.op) == timed.recording.op_name(b.op) &&
                        a.allocator_allocated == b.allocator_allocated && a.allocator_reserved == b.allocator_reserved;
      different += same ? 0 : 1;
    }
    CHECK(different == 0);
  }
  const DrivenRun unknown = run_with("fastest", llama_1b());
  CHECK(unknown.outcome().kind == OutcomeKind::kRefused);
  CHECK(unknown.outcome().message == "HEADROOM_PRODUCTS=fastest: use timed, libtorch or emulated.");
}

TEST_CASE("the real allocator fails under a cap, and the next run finds everything unchanged") {
  RunDriver driver(live::EngineRole::kRunner, true);
  const DrivenRun whole = driver.run(llama_1b());
  const Bytes peak = record::Ledger(whole.recording).peak().totals.allocated;
  const Bytes peak_reserved = record::Ledger(whole.recording).peak_reserved();
  for (const Bytes cap : {peak - 1, peak * 3 / 4, 4 * kGiB}) {
    CAPTURE(cap);
    const DrivenRun run = driver.run(llama_1b({{"cap", std::to_string(cap)}}));
    REQUIRE(run.outcome().kind == OutcomeKind::kOutOfMemory);
    REQUIRE(run.outcome().out_of_memory);
    const record::OutOfMemoryFacts& facts = *run.outcome().out_of_memory;
    CHECK(facts.limit == cap);
    CHECK(facts.reserved <= cap);
    CHECK_FALSE(facts.op.empty());
    Bytes sum = 0;
    for (const Bytes bytes : facts.by_category) sum += bytes;
    CHECK(sum == facts.allocated);
    REQUIRE_FALSE(run.recording.events().empty());
    CHECK(run.recording.events().back().kind == record::EventKind::kOutOfMemory);
    CHECK(run.recording.events().back().block == 0);  // refused by the cap, not the device
    const record::Ledger ledger(run.recording);
    CHECK(ledger.first_mismatch() == record::kNever);
    CHECK(ledger.peak_reserved() <= cap);
    CHECK(stats().allocated == 0);
    CHECK(stats().reserved == 0);
    CHECK_FALSE(driver.worker().retired());
  }
  const DrivenRun again = driver.run(llama_1b());
  CHECK(again.outcome().kind == OutcomeKind::kCompleted);
  CHECK(record::Ledger(again.recording).peak().totals.allocated == peak);
  CHECK(record::Ledger(again.recording).peak_reserved() == peak_reserved);
}

TEST_CASE("exceeding the whole device is out of memory as well") {
  RunDriver driver(live::EngineRole::kRunner, true);
  const DrivenRun run = driver.run(llama_1b({{"batch", "256"}, {"seq", "8192"}, {"checkpointing", "layer"}}));
  REQUIRE(run.outcome().kind == OutcomeKind::kOutOfMemory);
  CHECK(run.recording.events().back().block > 0);  // the device refused this segment
  CHECK(run.outcome().out_of_memory->limit == run.recording.info().device_memory);
  CHECK(stats().allocated == 0);
  CHECK(driver.run(llama_1b()).outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("twenty runs out of memory leave nothing allocated") {
  RunDriver driver(live::EngineRole::kRunner, true);
  const DrivenRun whole = driver.run(llama_1b({{"steps", "1"}}));
  const Bytes peak = record::Ledger(whole.recording).peak().totals.allocated;
  int clean = 0;
  for (int i = 0; i < 20; ++i) {
    const Bytes cap = peak / 2 + i * (peak / 42);  // exceeded from optimizer's state to backward pass's last GEMM
    const DrivenRun run = driver.run(llama_1b({{"steps", "1"}, {"cap", std::to_string(cap)}}), /*record=*/i % 2 != 0);
    clean += run.outcome().kind == OutcomeKind::kOutOfMemory && stats().allocated == 0 && stats().reserved == 0;
    // Unrecorded runs have no categories, not even the previous run's.
    REQUIRE(run.outcome().out_of_memory);
    CHECK((run.outcome().out_of_memory->by_category == record::ByCategory{}) == (i % 2 == 0));
  }
  CHECK(clean == 20);
  CHECK(driver.run(llama_1b({{"steps", "1"}})).outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("a cancelled run on the GPU stops within a second and frees everything") {
  RunDriver driver(live::EngineRole::kRunner, true);
  driver.run(llama_1b({{"steps", "1"}}));
  std::chrono::steady_clock::time_point asked{};
  const DrivenRun run = driver.run(llama_1b({{"steps", "10000"}}), true, [&](const record::Recording& so_far) {
    if (asked != decltype(asked){} || so_far.marks().size() < 100) return;
    asked = std::chrono::steady_clock::now();
    driver.worker().cancel(driver.last_run());
  });
  CHECK(run.outcome().kind == OutcomeKind::kCancelled);
  CHECK(std::chrono::steady_clock::now() - asked < 1s);
  CHECK(stats().allocated == 0);
}
