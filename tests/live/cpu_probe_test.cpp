// The CPU allocator's probe: counting, recording and budget.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/live/probes/host_memory.h"
#include "demos/record/ledger.h"
#include "demos/record/scope.h"
#include "tests/live/run_driver.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::Category;
using record::EventKind;
using record::MemEvent;
using tests::cpu_probe;
using tests::sink;

record::Recording record_cpu(const std::function<void()>& work) {
  sink().open(true);
  cpu_probe().start();
  work();
  cpu_probe().stop();
  sink().close();
  std::vector<MemEvent> events;
  sink().ring().drain(events, sink().ring().capacity());
  record::Recording recording(record::RunInfo{.device = record::DeviceKind::kCpu});
  recording.append(events);
  return recording;
}

// Installs the probe before the first tensor.
at::Tensor floats(std::int64_t count) {
  cpu_probe();
  return at::empty({count}, at::kFloat);
}

}  // namespace

TEST_CASE("live bytes follow allocations and frees, from any thread") {
  const record::Bytes before = cpu_probe().live_bytes();
  cpu_probe().reset_peak();
  at::Tensor one = floats(1000);
  CHECK(cpu_probe().live_bytes() == before + 4000);
  std::thread([moved = std::move(one)]() mutable { moved.reset(); }).join();
  CHECK(cpu_probe().live_bytes() == before);
  CHECK(cpu_probe().peak_bytes() == before + 4000);
  CHECK_NOTHROW(at::empty({0}));
  CHECK(cpu_probe().live_bytes() == before);
}

// On some processors oneDNN would allocate scratch for such GEMMs.
TEST_CASE("a 16-bit GEMM allocates nothing on any processor") {
  cpu_probe();
  CHECK_FALSE(at::globalContext().userEnabledMkldnn());
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    const at::Tensor x = at::ones({64, 64}, type);
    at::Tensor y = at::empty_like(x);
    const record::Bytes before = cpu_probe().live_bytes();
    cpu_probe().reset_peak();
    at::mm_out(y, x, x);
    CHECK(cpu_probe().peak_bytes() == before);
  }
}

TEST_CASE("a recording that begins mid-run starts with the live storages and the allocator's totals") {
  at::Tensor early, late;
  {
    const record::Scope scope(Category::kWeights);
    early = floats(256);
  }
  const record::Bytes before = cpu_probe().live_bytes();
  cpu_probe().reset_peak();
  const record::Recording recording = record_cpu([&] {
    record::mark(record::Phase::kForward, 3);
    const record::Scope scope(Category::kActivations, record::intern_operator("probe.test"));
    late = floats(512);
    floats(2048);
    early.reset();
  });
  const record::Ledger ledger(recording);
  CHECK(ledger.first_mismatch() == record::kNever);
  CHECK(ledger.at(ledger.size() - 1).allocated == before - 1024 + 2048);
  CHECK(ledger.peak().totals.allocated == before + 2048 + 8192);
  CHECK(ledger.peak().totals.allocated == cpu_probe().peak_bytes());

  const std::vector<MemEvent>& events = recording.events();
  REQUIRE(events.size() >= 5);
  const MemEvent& alloc = events[events.size() - 4];
  CHECK(alloc.kind == EventKind::kAlloc);
  CHECK(alloc.requested == 2048);
  CHECK(alloc.category == Category::kActivations);
  CHECK(alloc.phase == record::Phase::kForward);
  CHECK(alloc.layer == 3);
  CHECK(record::operator_name(alloc.op) == "probe.test");
  const MemEvent& freed = events.back();
  CHECK(freed.kind == EventKind::kFree);
  CHECK(freed.category == Category::kWeights);
  for (std::size_t i = 1; i < events.size(); ++i) CHECK(events[i].time >= events[i - 1].time);
  record::mark(record::Phase::kSetup);
}

TEST_CASE("a relabel names the storage, and unknown addresses are ignored") {
  at::Tensor tensor = floats(64);
  const record::Recording recording = record_cpu([&] {
    cpu_probe().relabel(tensor.storage().data_ptr().get_context(), Category::kGradients);
    cpu_probe().relabel(tensor.storage().data_ptr().get_context(), Category::kGradients);  // no-op
    int elsewhere = 0;
    cpu_probe().relabel(&elsewhere, Category::kGradients);
    cpu_probe().relabel(nullptr, Category::kGradients);
  });
  REQUIRE_FALSE(recording.events().empty());
  const MemEvent& last = recording.events().back();
  CHECK(last.kind == EventKind::kRelabel);
  CHECK(last.category == Category::kGradients);
  const record::Ledger ledger(recording);
  const record::Totals end = ledger.at(ledger.size() - 1);
  CHECK(end.by_category[static_cast<std::size_t>(Category::kGradients)] == 256);
  std::size_t relabels = 0;
  for (const MemEvent& event : recording.events()) relabels += event.kind == EventKind::kRelabel;
  CHECK(relabels == 1);
}

TEST_CASE("a cap refuses with an out-of-memory error and keeps the totals right") {
  const record::Bytes before = cpu_probe().live_bytes();
  cpu_probe().set_limits(before + 10'000, before + 1'000'000);
  at::Tensor fits = floats(2000);
  sink().open(true);
  cpu_probe().start();
  CHECK_THROWS_AS(floats(1000), c10::OutOfMemoryError);
  CHECK_THROWS_AS(at::empty({std::int64_t{1} << 60}, at::kByte), c10::OutOfMemoryError);
  cpu_probe().stop();
  sink().close();
  CHECK(cpu_probe().live_bytes() == before + 8000);
  const auto refusal = sink().first_refusal();
  REQUIRE(refusal);
  CHECK(refusal->requested == 4000);
  CHECK(refusal->segment == 0);
  CHECK(refusal->limit == before + 10'000);
  CHECK(refusal->allocated == before + 8000);
  std::vector<MemEvent> events;
  sink().ring().drain(events, sink().ring().capacity());
  CHECK(events.back().kind == EventKind::kOutOfMemory);
  CHECK(events.back().requested == 4000);  // the recording ends with the first refusal
  cpu_probe().set_limits(0, 0);
  CHECK_NOTHROW(floats(10'000));
  CHECK_THROWS_AS(at::empty({std::int64_t{1} << 60}, at::kByte), c10::OutOfMemoryError);
  CHECK(cpu_probe().live_bytes() == before + 8000);
  fits.reset();
  CHECK(cpu_probe().live_bytes() == before);
}

TEST_CASE("more than the machine's memory is refused before the system overcommits") {
  const record::Bytes before = cpu_probe().live_bytes();
  cpu_probe().set_limits(0, before + 10'000);
  sink().open(true);
  cpu_probe().start();
  at::Tensor fits = floats(2500);
  CHECK_THROWS_AS(floats(1), c10::OutOfMemoryError);
  cpu_probe().stop();
  sink().close();
  cpu_probe().set_limits(0, 0);
  const auto refusal = sink().first_refusal();
  REQUIRE(refusal);
  CHECK(refusal->limit == before + 10'000);
  CHECK(refusal->segment == 4);  // not 0: no cap was set
  std::vector<MemEvent> events;
  sink().ring().drain(events, sink().ring().capacity());
  CHECK(events.back().kind == EventKind::kOutOfMemory);
}

TEST_CASE("the totals are exact at every event with many threads") {
  const record::Recording recording = record_cpu([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        std::vector<at::Tensor> held;
        for (int i = 0; i < 2000; ++i) {
          held.push_back(floats(1 + (i * 7 + t) % 300));
          if (i % 3 == 0) held.erase(held.begin() + static_cast<std::ptrdiff_t>(held.size() / 2));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  CHECK(recording.events().size() >= 4 * 2 * 2000);
  CHECK(record::Ledger(recording).first_mismatch() == record::kNever);
}

TEST_CASE("a big tensor requests large pages if the system has them") {
  if (live::large_pages().empty()) {
    std::puts("SKIPPED: this system has no large pages");
    return;
  }
  const at::Tensor tensor = floats(16 << 20);
  const auto middle = reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) + tensor.nbytes() / 2;
  std::ifstream file("/proc/self/smaps");
  bool here = false;
  std::string flags;
  for (std::string line; flags.empty() && std::getline(file, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream head(line);
    if (head >> std::hex >> begin >> dash >> end && dash == '-') here = begin <= middle && middle < end;
    if (here && line.starts_with("VmFlags:")) flags = line;
  }
  CHECK(flags.find(" hg") != std::string::npos);  // "huge page advise flag", proc(5)
}
