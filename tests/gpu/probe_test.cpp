// Compares the CUDA probe with the allocator's statistics at every event and mark.
#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/AutogradState.h>

#include "demos/engine/live/probes/cuda_allocator.h"
#include "demos/engine/live/probes/cuda_probe.h"
#include "demos/record/ledger.h"
#include "demos/record/scope.h"
#include "tests/live/run_driver.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::Bytes;
using record::Category;
using tests::sink;

live::CudaProbe& cuda_probe() {
  static live::CudaProbe& probe = []() -> live::CudaProbe& {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
    record::become_worker_thread();
    live::CudaProbe& installed = live::CudaProbe::install(sink(), 0);
    // Never destroyed: at exit, thread-local state is destroyed before statics.
    static const auto& listening = *new std::shared_ptr<void>(live::cuda_allocator::listen_on_this_thread(installed));
    CHECK(listening);
    return installed;
  }();
  return probe;
}

class StatsAtMarks final : public record::ScopeListener {
 public:
  struct AtMark {
    std::uint64_t event_index;
    live::cuda_allocator::Stats stats;
  };

  void on_mark(const record::Tag& tag, std::int32_t step) override {
    marks.push_back({sink().mark(tag, step).event_index, live::cuda_allocator::stats(0)});
  }
  void on_relabel(const void* data, Category category) override { cuda_probe().relabel(data, category); }

  std::vector<AtMark> marks;
};

record::Recording take_recording() {
  std::vector<record::MemEvent> events;
  sink().ring().drain(events, sink().ring().capacity());
  record::Recording recording(record::RunInfo{.device = record::DeviceKind::kGpu});
  recording.append(events);
  CHECK(sink().ring().dropped() == 0);
  return recording;
}

}  // namespace

TEST_CASE("the ledger equals the allocator: allocated and reserved at every event, requested at every mark") {
  cuda_probe();
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  const std::string precision = GENERATE("precision=bf16", "precision=fp32");
  CAPTURE(checkpointing, precision);
  live::cuda_allocator::release_everything();
  live::cuda_allocator::reset_peaks(0);
  StatsAtMarks listener;
  sink().open(true);
  cuda_probe().start();
  record::set_scope_listener(&listener);
  const auto run = tests::make_run({"model=llama-3.2-1b", precision, "batch=2", "seq=512", checkpointing}, tests::kGpu);
  for (int i = 0; i < 3; ++i) run->step(i);
  const double loss = run->loss();
  record::set_scope_listener(nullptr);
  cuda_probe().stop();
  sink().close();
  const live::cuda_allocator::Stats end = live::cuda_allocator::stats(0);

  CHECK(loss > 0);
  CHECK(cuda_probe().unreported() == 0);
  const record::Recording recording = take_recording();
  const record::Ledger ledger(recording);
  CHECK(ledger.size() > 5000);
  CHECK(ledger.first_mismatch() == record::kNever);
  for (const record::MemEvent& event : recording.events()) {
    if (event.kind != record::EventKind::kAlloc && event.kind != record::EventKind::kFree) continue;
    REQUIRE(event.allocator_allocated != record::kUnknownBytes);
    REQUIRE(event.allocator_reserved != record::kUnknownBytes);
  }
  REQUIRE(listener.marks.size() > 100);
  int wrong = 0;
  for (const StatsAtMarks::AtMark& mark : listener.marks) {
    const record::Totals totals = mark.event_index == 0 ? record::Totals{} : ledger.at(mark.event_index - 1);
    wrong += totals.requested != mark.stats.requested || totals.allocated != mark.stats.allocated ||
             totals.reserved != mark.stats.reserved;
  }
  CHECK(wrong == 0);
  CHECK(ledger.peak().totals.allocated == end.peak_allocated);
  CHECK(ledger.peak_reserved() == end.peak_reserved);
  CHECK(ledger.peak_requested() == end.peak_requested);

  const record::Totals peak = ledger.peak().totals;
  CHECK(100 * peak.by_category[static_cast<std::size_t>(Category::kOther)] < peak.allocated);
  int workspaces = 0;
  for (const record::Storage& storage : ledger.storages()) {
    workspaces += storage.category == Category::kWorkspace && storage.died == record::kNever;
  }
  CHECK(workspaces == 1);
}

TEST_CASE("a recording that begins mid-run starts from the allocator's snapshot") {
  cuda_probe();
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kByte);
  at::Tensor small = at::empty({1000}, options);
  at::Tensor large = at::empty({30'000'000}, options);
  at::Tensor gone = at::empty({5'000'000}, options);
  gone.reset();  // leaves a hole in a segment
  sink().open(true);
  cuda_probe().start();
  const live::cuda_allocator::Stats before = live::cuda_allocator::stats(0);
  large.reset();
  const at::Tensor later = at::empty({100}, options);
  cuda_probe().relabel(later.storage().data_ptr().get_context(), Category::kGradients);
  cuda_probe().stop();
  sink().close();
  const record::Recording recording = take_recording();
  const record::Ledger ledger(recording);
  CHECK(ledger.first_mismatch() == record::kNever);
  CHECK(ledger.at(recording.events().size() - 4).allocated == before.allocated);
  CHECK(ledger.at(recording.events().size() - 4).requested == before.requested);
  CHECK(ledger.at(recording.events().size() - 4).reserved == before.reserved);
  CHECK(ledger.at(ledger.size() - 1).by_category[static_cast<std::size_t>(Category::kGradients)] == 512);
}
