// Runs that keep data on the host: separate byte counts, and explained failures.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <string>

#include "demos/engine/live/run/device_facts.h"
#include "demos/record/ledger.h"
#include "tests/live/run_driver.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::Category;
using record::DeviceKind;
using record::EventKind;
using record::OutcomeKind;
using tests::DrivenRun;
using tests::RunDriver;
using tests::SettingMap;

SettingMap offloaded(const SettingMap& more) {
  SettingMap settings = more;
  const SettingMap base{
      {"model", "tiny"}, {"batch", "2"}, {"seq", "64"}, {"device", "cpu"}, {"offload.optimizer", "host"}};
  settings.insert(base.begin(), base.end());
  return settings;
}

struct Host {
  std::map<Category, record::Bytes> taken;  // at the host's peak
  record::Bytes peak = 0;
  std::size_t events = 0;
};

Host host_of(const record::Recording& recording) {
  Host host;
  record::Bytes live = 0;
  std::map<Category, record::Bytes> now;
  for (const record::MemEvent& event : recording.events()) {
    if (event.device != DeviceKind::kHost) continue;
    ++host.events;
    const bool born = event.kind == EventKind::kAlloc;
    live += born ? event.block : -event.block;
    now[event.category] += born ? event.block : -event.block;
    CHECK(event.allocator_allocated == live);
    if (live > host.peak) host = {.taken = now, .peak = live, .events = host.events};
  }
  return host;
}

class SmallFiles {
 public:
  explicit SmallFiles(rlim_t most) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{.rlim_cur = most, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("host memory of a run is reported separately and changes no total of the device") {
  RunDriver driver;
  const DrivenRun plain = driver.run({{"model", "tiny"}, {"batch", "2"}, {"seq", "64"}, {"device", "cpu"}});
  const DrivenRun run = driver.run(offloaded({}));
  REQUIRE(run.outcome().kind == OutcomeKind::kCompleted);
  CHECK(run.outcome().message.empty());
  CHECK(host_of(plain.recording).events == 0);

  const record::Ledger ledger(run.recording), plain_ledger(plain.recording);
  CHECK(ledger.first_mismatch() == record::kNever);
  const auto of = [](const record::Ledger& all, Category category) {
    return all.peak().totals.by_category[static_cast<std::size_t>(category)];
  };
  const record::Bytes weights = of(plain_ledger, Category::kWeights);
  CHECK(of(ledger, Category::kWeights) == weights);
  CHECK(of(ledger, Category::kOptimizerState) == 0);
  const Host host = host_of(run.recording);
  CHECK(host.taken.at(Category::kWeights) == weights);
  CHECK(host.taken.at(Category::kGradients) == weights);
  CHECK(host.taken.at(Category::kOptimizerState) == 2 * weights);  // gradients in fp32 need no widening
}

TEST_CASE("a run that needs more host memory than available fails with a sentence") {
  const auto with = [](record::Bytes available) {
    live::MachineFacts machine = live::machine_facts(/*look_for_gpu=*/false);
    machine.available_memory = [available] { return available; };
    return machine;
  };
  RunDriver small(with(40 * record::kMiB));
  const DrivenRun run = small.run(offloaded({}));
  CHECK(run.outcome().kind == OutcomeKind::kFailed);
  CHECK(run.outcome().message.find("This run's data on the host need ") == 0);
  // Nine tenths of 40 MiB, minus the model in the same memory.
  const record::Bytes model = record::Ledger(run.recording).peak().totals.allocated;
  CHECK(run.outcome().message.ends_with("this machine has only " + record::format_bytes(36 * record::kMiB - model) +
                                        "."));
  RunDriver large(with(400 * record::kMiB));
  CHECK(large.run(offloaded({})).outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("host and device bytes share one memory on the CPU") {
  const auto with = [](record::Bytes available) {
    live::MachineFacts machine = live::machine_facts(/*look_for_gpu=*/false);
    machine.available_memory = [available] { return available; };
    return machine;
  };
  RunDriver ample(with(400 * record::kMiB));
  const DrivenRun run = ample.run(offloaded({}));
  REQUIRE(run.outcome().kind == OutcomeKind::kCompleted);
  const record::Bytes host = host_of(run.recording).peak;
  const record::Bytes device = record::Ledger(run.recording).peak().totals.allocated;
  const auto part = [](record::Bytes bytes) { return bytes * 10 / 9 + 10; };  // a run may use nine tenths

  // Room for either the host's or the device's bytes, but not for the host's bytes plus the model's weights.
  RunDriver narrow(with(part(std::max(host, device) + 4 * record::kMiB)));
  const DrivenRun refused = narrow.run(offloaded({}));
  CHECK(refused.outcome().kind == OutcomeKind::kFailed);
  CHECK(refused.outcome().message.find("This run's data on the host need ") == 0);
  // Room for both, but not for the step.
  RunDriver tight(with(part(host + device - record::kMiB)));
  CHECK(tight.run(offloaded({})).outcome().kind == OutcomeKind::kOutOfMemory);
  RunDriver enough(with(part(host + device + record::kMiB)));
  CHECK(enough.run(offloaded({})).outcome().kind == OutcomeKind::kCompleted);
}

TEST_CASE("a disk too small for the optimizer's state fails the run with a sentence, and the next run works") {
  RunDriver driver;
  {
    const SmallFiles small(1 << 20);
    const DrivenRun run = driver.run(offloaded({{"offload.optimizer", "file"}}));
    CHECK(run.outcome().kind == OutcomeKind::kFailed);
    CHECK(run.outcome().message.find("the disk has no space for ") != std::string::npos);
  }
  const DrivenRun run = driver.run(offloaded({{"offload.optimizer", "file"}}));
  CHECK(run.outcome().kind == OutcomeKind::kCompleted);
  CHECK(std::count_if(run.recording.measurements().begin(), run.recording.measurements().end(), [](const auto& row) {
          return row.panel == "offload_file" && row.bytes > 0 && row.median > 0;
        }) == 2 * 3);  // a read and a write per step
}

TEST_CASE("an offloaded step that runs out of memory or is cancelled leaves nothing allocated") {
  RunDriver driver;
  const SettingMap settings = offloaded({{"offload.parameters", "on"}, {"checkpointing", "layer"}, {"batch", "8"}});
  const DrivenRun whole = driver.run(settings);
  REQUIRE(whole.outcome().kind == OutcomeKind::kCompleted);
  const record::Bytes live = tests::cpu_probe().live_bytes();
  const record::Bytes peak = record::Ledger(whole.recording).peak().totals.allocated;
  SettingMap capped = settings;
  capped["cap"] = std::to_string(peak - 1);
  CHECK(driver.run(capped).outcome().kind == OutcomeKind::kOutOfMemory);
  CHECK(tests::cpu_probe().live_bytes() == live);

  SettingMap longer = settings;
  longer["steps"] = "1000";
  const DrivenRun cancelled = driver.run(longer, true, [&](const record::Recording& so_far) {
    if (!so_far.metrics().empty()) driver.worker().cancel(driver.last_run());
  });
  CHECK(cancelled.outcome().kind == OutcomeKind::kCancelled);
  CHECK(tests::cpu_probe().live_bytes() == live);
  CHECK(driver.run(settings).outcome().kind == OutcomeKind::kCompleted);
}
