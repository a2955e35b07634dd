// Pairing of a run's events with a prediction's, and what the two steps take.
#include <algorithm>

#include "lessons/steps/paired_events.h"
#include "lessons/steps/step_difference.h"
#include "tests/support/catch.h"
#include "tests/support/made_prediction.h"
#include "tests/support/made_recording.h"

using namespace headroom;
using lessons::PairedEvents;
using record::DeviceKind;
using record::EventKind;
using record::Ledger;
using record::MemEvent;
using record::Recording;

namespace {

struct Pair {
  Pair(Recording measured, Recording computed)
      : run(std::move(measured)), prediction(std::move(computed)), ledger(run), predicted(prediction) {}

  lessons::EventRange range(const Ledger& of) const {
    const auto step = record::last_whole_step(of.recording());
    REQUIRE(step);
    return {of, step->first, step->last};
  }
  PairedEvents events() const { return {range(ledger), range(predicted)}; }
  lessons::StepDifference difference() const {
    return lessons::step_difference(ledger, *record::last_whole_step(run), predicted,
                                    *record::last_whole_step(prediction));
  }

  Recording run, prediction;
  Ledger ledger, predicted;
};

// The prediction of two steps, in which the allocation of the logits of the last step is changed.
Recording with_logits(const std::function<void(MemEvent&)>& change) {
  int logits = 0;
  return tests::made_prediction({.steps = 2}, [&](MemEvent& event, std::size_t) {
    const bool allocates = event.kind == EventKind::kAlloc && event.category == record::Category::kLogits;
    if (allocates && ++logits == 3) change(event);
  });
}

}  // namespace

TEST_CASE("a prediction of the same requests has a partner for each allocation and free") {
  for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    for (const bool checkpointing : {false, true}) {
      const Pair pair(tests::made_recording({.device = device, .steps = 5, .checkpointing = checkpointing}),
                      tests::made_prediction({.device = device, .steps = 2, .checkpointing = checkpointing}));
      const PairedEvents events = pair.events();
      CHECK(events.equal());
      const auto& all = pair.run.events();
      const lessons::EventRange step = pair.range(pair.ledger);
      CHECK(events.size() == static_cast<std::size_t>(std::count_if(
                                 all.begin() + static_cast<std::ptrdiff_t>(step.first),
                                 all.begin() + static_cast<std::ptrdiff_t>(step.last), [](const MemEvent& event) {
                                   return event.kind == EventKind::kAlloc || event.kind == EventKind::kFree;
                                 })));
      for (std::uint64_t event = step.first; event < step.last; ++event)
        if (all[event].kind == EventKind::kAlloc || all[event].kind == EventKind::kFree)
          CHECK(pair.prediction.events()[events.other_from(event)].requested == all[event].requested);
      CHECK(events.other_from(step.last) == pair.range(pair.predicted).last);
    }
  }
}

TEST_CASE("events part at the first that differs in bytes, kind, phase, layer or operator") {
  const auto parting_of = [](const std::function<void(MemEvent&)>& change) {
    const Pair pair(tests::made_recording({.steps = 2}), with_logits(change));
    const PairedEvents events = pair.events();
    REQUIRE(events.parting());
    CHECK(pair.run.events()[*events.parting()->run].requested == tests::kMadeLogits);
    CHECK(events.other_from(*events.parting()->run) == *events.parting()->other);
    return parting_words(*events.parting(), pair.ledger, pair.predicted, lessons::EventBytes::kRounded);
  };
  const lessons::PartingWords bytes = parting_of([](MemEvent& event) { event.requested = event.block = record::kMiB; });
  CHECK(bytes.run == "allocate 512.00 KiB, logits and loss, loss, output head");
  CHECK(bytes.other == "allocate 1.00 MiB, logits and loss, loss, output head");
  CHECK(parting_of([](MemEvent& event) { event.category = record::Category::kOther; }).other.find("other") !=
        std::string::npos);
  CHECK(parting_of([](MemEvent& event) { event.phase = record::Phase::kBackward; }).other.find("backward") !=
        std::string::npos);
  CHECK(parting_of([](MemEvent& event) { event.layer = 1; }).other.find("layer 1") != std::string::npos);
  CHECK(parting_of([](MemEvent& event) { event.op = record::kNoOperator; }).other ==
        "allocate 512.00 KiB, logits and loss, loss");
  const lessons::PartingWords close = parting_of([](MemEvent& event) { event.block += 1; });
  CHECK(close.run == "allocate 524,288 B, logits and loss, loss, output head");
  CHECK(close.other == "allocate 524,288 B in a block of 524,289 B, logits and loss, loss, output head");
}

TEST_CASE("a run with more events than its prediction parts where the prediction ends") {
  const Recording run = tests::made_recording({.steps = 2});
  const Ledger ledger(run);
  const auto step = record::last_whole_step(run);
  const PairedEvents events({ledger, step->first, step->last}, {ledger, step->first, step->last - 3});
  REQUIRE(events.parting());
  CHECK(events.parting()->run == step->last - 3);
  CHECK_FALSE(events.parting()->other);
  CHECK(parting_words(*events.parting(), ledger, ledger, lessons::EventBytes::kExact).other == "no further event");
}

TEST_CASE("equal steps differ nowhere; rows of equal layers are one") {
  const Pair same(tests::made_recording({.steps = 4}), tests::made_prediction({.steps = 2}));
  const lessons::StepDifference equal = same.difference();
  const std::string events = record::format_count(static_cast<std::int64_t>(equal.pairs.size()));
  CHECK(difference_words(equal) == "Equal to the byte: " + events + " events");
  CHECK(equal.peak.change() == 0);
  for (const auto* rows : {&equal.kinds, &equal.phases, &equal.layers}) {
    CHECK_FALSE(rows->empty());
    CHECK(
        std::ranges::all_of(*rows, [](const lessons::DifferenceRow& row) { return row.change() == 0 && row.run > 0; }));
  }
  CHECK(equal.phases.size() == 6);  // setup, forward, loss, backward, optimizer, copies
  CHECK(equal.layers.front().name == "Layers 0 to 1, each");
  CHECK(equal.layers.back().name == "Outside the layers");
}

TEST_CASE("a difference is in its kind, its phase and its layer") {
  const Pair pair(tests::made_recording({.steps = 2}), with_logits([](MemEvent& event) { event.block += 4096; }));
  const lessons::StepDifference difference = pair.difference();
  CHECK(difference.peak.change() == -4096);
  const auto change_of = [](const std::vector<lessons::DifferenceRow>& rows, std::string_view name) {
    const auto row = std::ranges::find(rows, name, &lessons::DifferenceRow::name);
    REQUIRE(row != rows.end());
    return row->change();
  };
  CHECK(change_of(difference.kinds, "Logits and loss") == -4096);
  CHECK(change_of(difference.kinds, "Weights") == 0);
  CHECK(change_of(difference.phases, "Loss") == -4096);
  CHECK(change_of(difference.phases, "Forward") == 0);
  CHECK(change_of(difference.layers, "Outside the layers") == -4096);
  CHECK(difference_words(difference).ends_with("events are equal before the first that differs"));
}
