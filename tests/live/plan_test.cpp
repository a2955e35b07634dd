// A plan for the CPU has the events of the run.
#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

#include "demos/record/scope.h"
#include "demos/record/timeline.h"
#include "tests/live/run_driver.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::EventKind;
using record::MemEvent;
using record::OutcomeKind;
using tests::DrivenRun;
using tests::RunDriver;
using tests::SettingMap;

// Attention's backward pass allocates a small buffer per thread, in no fixed order.
void use_one_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

struct Row {
  EventKind kind;
  std::uint64_t nth;  // numbered by birth
  record::Bytes bytes;
  record::Category category;
  record::Phase phase;
  std::uint16_t layer, op;
  bool operator==(const Row&) const = default;
};

std::string as_text(const Row& row) {
  return fmt::format("kind {} storage {} bytes {} {} {} layer {} {}", static_cast<int>(row.kind), row.nth, row.bytes,
                     record::label_of(row.category), record::label_of(row.phase), row.layer,
                     record::operator_name(row.op));
}

// Skips the first step, which allocates everything for the first time.
std::vector<Row> rows_of(const record::Recording& recording) {
  const record::StepRange first_step = record::steps_of(recording).front();
  std::vector<Row> rows;
  std::map<std::uint64_t, std::uint64_t> births;
  for (std::uint64_t i = first_step.last; i < recording.events().size(); ++i) {
    const MemEvent& event = recording.events()[i];
    const bool born_here = births.contains(event.storage) || event.kind == EventKind::kAlloc;
    if (!born_here) continue;
    const std::uint64_t nth = births.try_emplace(event.storage, births.size()).first->second;
    rows.push_back({event.kind, nth, event.requested, event.category, event.phase, event.layer, event.op});
  }
  return rows;
}

}  // namespace

TEST_CASE("a plan for the CPU has the CPU run's events") {
  use_one_core();
  const std::string checkpointing = GENERATE("off", "layer");
  CAPTURE(checkpointing);
  const SettingMap settings{
      {"model", "tiny"}, {"batch", "2"}, {"seq", "64"}, {"device", "cpu"}, {"checkpointing", checkpointing}};
  DrivenRun real, planned;
  {
    RunDriver runner;
    real = runner.run(settings);
  }
  {
    RunDriver planner(live::EngineRole::kPlanner);
    planned = planner.run(settings);
  }
  REQUIRE(real.outcome().kind == OutcomeKind::kCompleted);
  REQUIRE(planned.outcome().kind == OutcomeKind::kCompleted);
  CHECK(planned.recording.info().source == record::Source::kPredicted);
  const std::vector<Row> real_rows = rows_of(real.recording);
  const std::vector<Row> planned_rows = rows_of(planned.recording);
  REQUIRE(real_rows.size() > 1000);
  const auto differs = std::mismatch(real_rows.begin(), real_rows.end(), planned_rows.begin(), planned_rows.end());
  CAPTURE(differs.first - real_rows.begin(), real_rows.size(), planned_rows.size());
  if (differs.first != real_rows.end() && differs.second != planned_rows.end()) {
    CHECK(as_text(*differs.first) == as_text(*differs.second));
  }
  CHECK(differs.first == real_rows.end());
  CHECK(differs.second == planned_rows.end());
}

TEST_CASE("a plan has the run's host memory, block by block") {
  const SettingMap settings{{"model", "tiny"},
                            {"batch", "2"},
                            {"seq", "64"},
                            {"device", "cpu"},
                            {"checkpointing", "layer"},
                            {"offload.optimizer", "host"},
                            {"offload.parameters", "on"},
                            {"offload.checkpoints", "on"}};
  const auto host_rows = [&](live::EngineRole role) {
    RunDriver driver(role);
    const DrivenRun run = driver.run(settings);
    REQUIRE(run.outcome().kind == OutcomeKind::kCompleted);
    std::vector<std::string> rows;
    for (const MemEvent& event : run.recording.events()) {
      if (event.device != record::DeviceKind::kHost) continue;
      rows.push_back(as_text({event.kind, 0, event.requested, event.category, event.phase, event.layer, event.op}));
    }
    return rows;
  };
  const std::vector<std::string> real = host_rows(live::EngineRole::kRunner);
  CHECK(real.size() > 100);
  CHECK(host_rows(live::EngineRole::kPlanner) == real);
}
