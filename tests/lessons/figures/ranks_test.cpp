// Figures of runs with several ranks: collectives below the memory, and each rank's peak.
#include <memory>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom;

namespace {

constexpr std::int32_t kStep = 2;

const record::Mark& first_mark(const record::Recording& run) {
  return run.marks()[record::last_whole_step(run)->first_mark];
}

record::Recording made_rank(std::int32_t rank, record::Nanoseconds clock_start) {
  record::Recording run = tests::made_recording({});
  record::RunInfo info = run.info();
  info.rank = rank;
  info.ranks = 2;
  info.clock_start = clock_start;
  run.set_info(info);
  const record::Nanoseconds begin = first_mark(run).device_time;
  const auto add = [&](record::CollectiveKind kind, record::Nanoseconds after, std::uint16_t layer) {
    run.append(record::Collective{.issued = begin + after,
                                  .begin = begin + after,
                                  .end = begin + after + 20,
                                  .bytes = 4096,
                                  .step = kStep,
                                  .layer = layer,
                                  .ranks = 2,
                                  .kind = kind,
                                  .axis = record::Axis::kShards,
                                  .phase = record::Phase::kForward});
  };
  add(record::CollectiveKind::kAllGather, 10, 0);
  add(record::CollectiveKind::kAllReduce, 50, record::kNoLayer);
  return run;
}

// Rank 1's clock started 1,000 ns before rank 0's.
record::Recording made_run() {
  record::Recording first = made_rank(0, 6'000);
  first.set_other_ranks({std::make_shared<const record::Recording>(made_rank(1, 5'000))});
  return first;
}

}  // namespace

TEST_CASE("collectives of all ranks are lanes on the memory's axis") {
  const record::Recording run = made_run();
  const record::Ledger ledger(run);
  const lessons::FigureData data = lessons::find_figure("memory_timeline")->build({.run = &ledger});
  CHECK(data.head.title == "Memory and collectives of one step, rank 0");
  const auto* const lanes = lessons::panel_of<lessons::Lanes>(data);
  REQUIRE(lanes != nullptr);
  REQUIRE(lanes->lanes.size() == 2);
  CHECK(lanes->lanes[0].label == "Rank 0");
  CHECK(lanes->lanes[0].note == "2 collectives send 6.00 KiB and take 40 ns");
  CHECK_FALSE(lanes->lanes[0].thin);
  CHECK(lanes->lanes[1].thin);
  REQUIRE(lanes->lanes[0].boxes.size() == 2);
  CHECK(lanes->lanes[0].boxes[0].begin == 10);
  CHECK(lanes->lanes[0].boxes[0].end == 30);
  CHECK(lanes->lanes[0].boxes[0].label == "gather 0");
  CHECK(lanes->lanes[0].boxes[1].label == "sum");
  // On the common clock, rank 1's collectives are 1,000 ns earlier, before the axis.
  CHECK(lanes->lanes[1].boxes.empty());
}

TEST_CASE("a figure shows the rank that its parameter names, and a lane's name sets it") {
  const record::Recording run = made_run();
  const record::Ledger ledger(run);
  const lessons::Figure& figure = *lessons::find_figure("memory_timeline");
  record::Params params(figure.schema);
  const auto first = figure.build({.run = &ledger, .params = &params});
  const auto& action = lessons::panel_of<lessons::Lanes>(first)->lanes[1].action;
  REQUIRE(action);
  REQUIRE(params.set(action->key, action->value).ok());
  const auto data = figure.build({.run = &ledger, .params = &params});
  CHECK(data.head.title == "Memory and collectives of one step, rank 1");
  const auto& lanes = lessons::panel_of<lessons::Lanes>(data)->lanes;
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[0].thin);
  CHECK_FALSE(lanes[1].thin);
  CHECK_FALSE(lanes[1].action);
  REQUIRE(params.set("rank", "2").ok());
  CHECK(figure.build({.run = &ledger, .params = &params}).head.empty_reason ==
        "This run has 2 ranks: set the rank to 0 … 1.");
  const record::Recording alone = tests::made_recording({});
  const record::Ledger other(alone);
  CHECK(figure.build({.run = &other, .params = &params}).head.empty_reason ==
        "This run has one rank: set the rank to 0.");
}

TEST_CASE("without collectives or times there are no lanes") {
  const record::Recording run = made_run(), alone = tests::made_recording({});
  const record::Ledger ledger(run), other(alone);
  const lessons::Figure& figure = *lessons::find_figure("memory_timeline");
  CHECK(lessons::panel_of<lessons::Lanes>(figure.build({.run = &other})) == nullptr);
  record::Params params(figure.schema);
  REQUIRE(params.set("axis", "event").ok());
  CHECK(lessons::panel_of<lessons::Lanes>(figure.build({.run = &ledger, .params = &params})) == nullptr);
}

TEST_CASE("each rank's peak and traffic is a bar") {
  const record::Recording run = made_run(), alone = tests::made_recording({});
  const record::Ledger ledger(run), other(alone);
  const lessons::Figure& figure = *lessons::find_figure("rank_peaks");
  const lessons::FigureData data = figure.build({.run = &ledger});
  const auto* const rungs = lessons::panel_of<lessons::Rungs>(data);
  REQUIRE(rungs != nullptr);
  REQUIRE(rungs->rungs.size() == 2);
  const auto step = record::last_whole_step(run);
  const record::Totals peak = ledger.peak(step->first, step->last).totals;
  for (const lessons::Rung& rung : rungs->rungs) CHECK(rung.bytes == peak.by_category);
  CHECK(rungs->rungs[1].label == "Rank 1");
  const auto* const table = lessons::panel_of<lessons::Table>(data);
  REQUIRE(table != nullptr);
  REQUIRE(table->rows.size() == 2);
  CHECK(table->rows[1].cells == std::vector<std::string>{"2", "6.00 KiB", "40 ns"});
  CHECK_FALSE(figure.build({.run = &other}).head.empty_reason.empty());
}
