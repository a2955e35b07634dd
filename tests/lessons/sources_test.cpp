// Sources of figures, by their basis.
#include "lessons/sources.h"

#include <vector>

#include "demos/experiments/demo.h"
#include "tests/support/catch.h"

using namespace headroom;
using lessons::Basis;
using lessons::Figure;
using lessons::FigureInput;
using lessons::Sources;

namespace {

record::Recording recording_from(record::Source source) {
  record::Recording recording;
  recording.set_info({.source = source});
  return recording;
}

const record::Recording kMeasured = recording_from(record::Source::kRecorded);
const record::Recording kPredicted = recording_from(record::Source::kPredicted);
const record::Recording kComputed = recording_from(record::Source::kFormula);

}  // namespace

TEST_CASE("a figure of runs draws the run on show, and only lines of a prediction") {
  const record::Ledger run(kMeasured), prediction(kPredicted), line(kPredicted);
  const record::Params settings(experiments::training_step().schema);
  Sources sources{.run = &run, .prediction = &prediction, .settings = &settings};
  FigureInput input = lessons::inputs_for({.basis = Basis::kRun}, sources);
  CHECK(input.run == &run);
  CHECK(input.predicted == nullptr);
  CHECK(input.settings == nullptr);
  sources.predicted_line = &line;
  CHECK(lessons::inputs_for({.basis = Basis::kRun}, sources).predicted == &line);
  sources.run = &prediction;  // nothing is measured
  CHECK(lessons::inputs_for({.basis = Basis::kRun}, sources).run == &prediction);
}

TEST_CASE("beside the reader's settings only a measurement is a run") {
  const record::Ledger run(kMeasured), prediction(kPredicted), computed(kComputed);
  const record::Params settings(experiments::training_step().schema);
  for (const Basis basis : {Basis::kSettings, Basis::kFormula, Basis::kSweep}) {
    const Figure figure{.basis = basis};
    Sources sources{.run = &run, .prediction = &prediction, .settings = &settings};
    FigureInput input = lessons::inputs_for(figure, sources);
    CHECK(input.run == &run);
    CHECK(input.predicted == &prediction);
    CHECK(input.settings == &settings);
    for (const record::Ledger* each : {&prediction, &computed}) {
      sources.run = each;
      CHECK(lessons::inputs_for(figure, sources).run == nullptr);
    }
    sources.settings = nullptr;  // a recording of a prediction brings its own settings
    CHECK(lessons::inputs_for(figure, sources).run == &computed);
  }
}

TEST_CASE("a figure of sweeps draws the sweep of its page") {
  const record::Ledger run(kMeasured), sweep(kMeasured);
  const Sources sources{.run = &run, .sweep_run = &sweep};
  CHECK(lessons::inputs_for({.basis = Basis::kSweep}, sources).run == &sweep);
  CHECK(lessons::inputs_for({.basis = Basis::kLadder}, sources).run == &run);
}

TEST_CASE("the card is for figures that ask for it, and for runs of a step") {
  Sources sources{.card = lessons::CardLimit{.name = "a card", .memory = record::kGiB}};
  CHECK(lessons::inputs_for({.basis = Basis::kSettings, .on_card = true}, sources).view.card);
  CHECK_FALSE(lessons::inputs_for({.basis = Basis::kSettings}, sources).view.card);
  CHECK_FALSE(lessons::inputs_for({.basis = Basis::kRun}, sources).view.card);
  sources.runs_on_card = true;
  CHECK(lessons::inputs_for({.basis = Basis::kRun}, sources).view.card);
  CHECK_FALSE(lessons::inputs_for({.basis = Basis::kSettings}, sources).view.card);
}
