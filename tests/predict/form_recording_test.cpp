// The closed form as a recording: phases in order, and the peak.
#include "demos/predict/forms/form_recording.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::Phase;

TEST_CASE("a closed form as a recording has all phases, and forward rises layer by layer to the loss") {
  for (const char* checkpointing : {"checkpointing=off", "checkpointing=layer", "checkpointing=selective"}) {
    INFO(checkpointing);
    record::Params params(experiments::training_step().schema);
    for (const char* assignment : {"model=llama-3.2-1b", "precision=bf16", checkpointing})
      REQUIRE(params.set_assignment(assignment).ok());
    const predict::StepSettings step = predict::step_settings(params);
    const predict::ClosedForm form = predict::closed_form(step);
    const record::Recording run = predict::recording_of(form, params);
    const auto range = record::last_whole_step(run);
    REQUIRE(range);
    const record::TimeMap map(run, record::TimeAxis::kEvent, range->first, range->last);
    std::vector<Phase> phases;
    for (const record::PhaseSpan& span : record::phase_spans(run, map, *range, true))
      if (span.phase != Phase::kRecompute) phases.push_back(span.phase);
    CHECK(phases == std::vector{Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kOptimizer});
    const auto forward = std::ranges::count(run.events(), Phase::kForward, &record::MemEvent::phase);
    CHECK(forward >= step.model.num_layers);
    record::Ledger ledger(run);
    ledger.update();
    const record::ByCategory& peak = form.peak().bytes;
    CHECK(ledger.peak(range->first, range->last).totals.allocated ==
          std::accumulate(peak.begin(), peak.end(), record::Bytes{}));
  }
}
