// Capped runs on the CPU.
#include "demos/predict/allocator/capped.h"

#include "demos/record/ledger.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom;
using record::Bytes;
using record::EventKind;
using record::Recording;

TEST_CASE("the requests of a CPU run under a cap end where the capped run ended") {
  const Recording run = tests::made_recording({.out_of_memory = true});
  const Recording capped = predict::capped(tests::made_recording({}), run.info().cap);
  REQUIRE(capped.events().size() == run.events().size());
  for (std::size_t i = 0; i < run.events().size(); ++i) {
    CAPTURE(i);
    CHECK(capped.events()[i].kind == run.events()[i].kind);
    CHECK(capped.events()[i].requested == run.events()[i].requested);
  }
  CHECK(capped.marks().size() == run.marks().size());
  REQUIRE(capped.outcome());
  REQUIRE(capped.outcome()->kind == record::OutcomeKind::kOutOfMemory);
  const record::OutOfMemoryFacts &said = *capped.outcome()->out_of_memory, &is = *run.outcome()->out_of_memory;
  CHECK(said.requested == is.requested);
  CHECK(said.allocated == is.allocated);
  CHECK(said.limit == is.limit);
  CHECK(said.op == is.op);
  CHECK(said.phase == is.phase);
  CHECK(said.layer == is.layer);
  CHECK(said.by_category == is.by_category);
}

TEST_CASE("a sufficient cap does not change the run, down to the last byte") {
  const Recording run = tests::made_recording({});
  const Bytes peak = record::Ledger(run).peak_requested();
  for (const Bytes limit : {Bytes{0}, peak}) {
    const Recording capped = predict::capped(run, limit);
    CHECK(capped.events().size() == run.events().size());
    REQUIRE(capped.outcome());
    CHECK(capped.outcome()->kind == record::OutcomeKind::kCompleted);
    CHECK(record::Ledger(capped).first_mismatch() == record::kNever);
  }
  const Recording below = predict::capped(run, peak - 1);
  CHECK(below.outcome()->kind == record::OutcomeKind::kOutOfMemory);
  CHECK(below.events().back().kind == EventKind::kOutOfMemory);
}
