// Long runs cut to the memory of their first steps.
#include "demos/record/file/first_steps.h"

#include <filesystem>
#include <memory>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

namespace {

Bytes peak_of(const Recording& run, std::size_t step) {
  const StepRange range = steps_of(run).at(step);
  return Ledger(run).peak(range.first, range.last).totals.allocated;
}

}  // namespace

TEST_CASE("a shortened run keeps the memory of its first steps and the losses of all") {
  for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    Recording run = made_recording({.device = device, .steps = 6, .every_row = true});
    run.append(Collective{.step = 2});
    const Recording cut = first_steps(run, 2);
    REQUIRE(steps_of(run).size() == 6);
    REQUIRE(steps_of(cut).size() == 2);
    for (std::size_t step = 0; step < 2; ++step) {
      CHECK(steps_of(cut)[step].complete);
      CHECK(peak_of(cut, step) == peak_of(run, step));
    }
    CHECK(cut.metrics() == run.metrics());
    CHECK(cut.histograms() == run.histograms());
    REQUIRE(cut.collectives().size() == 1);
    CHECK(cut.collectives().front() == run.collectives().front());
    CHECK(cut.events().size() < run.events().size());
    CHECK(cut.info().provenance.at(std::string(kMemoryOf)) == "2 of 6 steps");
    CHECK(cut.outcome() == run.outcome());

    const TemporaryFolder folder;
    REQUIRE(cut.write(folder / "cut.hrec").ok());
    const auto read = Recording::read(folder / "cut.hrec");
    REQUIRE(read.ok());
    CHECK(read.value().events() == cut.events());
    CHECK(read.value().marks() == cut.marks());
    CHECK_FALSE(read.value().truncated());
  }
}

TEST_CASE("a shortened run keeps its other ranks, shortened as well") {
  Recording run = made_recording({.steps = 6});
  run.set_other_ranks({std::make_shared<const Recording>(made_recording({.steps = 6, .checkpointing = true}))});
  const Recording other = made_recording({.steps = 6, .checkpointing = true});
  const Recording cut = first_steps(run, 2);
  REQUIRE(cut.other_ranks().size() == 1);
  REQUIRE(steps_of(*cut.other_ranks()[0]).size() == 2);
  CHECK(peak_of(*cut.other_ranks()[0], 1) == peak_of(other, 1));
}

TEST_CASE("a run without later steps does not change") {
  const Recording run = made_recording({.steps = 3});
  const Recording same = first_steps(run, 3);
  CHECK(same.events() == run.events());
  CHECK(same.marks() == run.marks());
  CHECK_FALSE(same.info().provenance.contains(std::string(kMemoryOf)));
}
