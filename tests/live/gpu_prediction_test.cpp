// Compares the planner's trace, with a GPU's extras and allocator, with recorded runs.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "demos/backend/backend.h"
#include "demos/experiments/demo.h"
#include "demos/predict/allocator/placed.h"
#include "demos/predict/cards/gpu_extras.h"
#include "demos/predict/predicted.h"
#include "demos/predict/time/bound_times.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/figure.h"
#include "lessons/steps/step_difference.h"
#include "tests/live/planned.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"
#include "tests/support/pixel_tops.h"

using namespace headroom;
using record::Recording;

namespace {

// Peak of the last whole step, or of the whole run if no step is whole or a replayed graph requests nothing.
record::Bytes step_peak(const record::Ledger& run) {
  const auto step = record::last_whole_step(run.recording());
  return (step && step->last > step->first ? run.peak(step->first, step->last) : run.peak()).totals.allocated;
}

// As the window and the command line predict.
Recording prediction_of(backend::Backend& planner, const Recording& run) {
  const record::Schema schema = experiments::training_step().schema;
  const record::Params settings = record::Params::known_of(schema, run.info().params);
  for (const record::Params& traced : {predict::traced_settings(settings), settings}) {
    const auto trace = tests::planned(planner, {.demo = run.info().demo, .params = traced});
    if (const auto step = predict::predicted(*trace, traced, settings, {.card = predict::bound_card()}))
      return *step->recording;
  }
  FAIL("the steps differ");
  return {};
}

// Compares the line with the stack's outline in each column and, at a plot's size, in each pixel.
void check_line(const record::Ledger& run, const record::Ledger& predicted) {
  for (const int columns : {800, 1600}) {
    const lessons::FigureData figure =
        lessons::find_figure("memory_timeline")
            ->build({.run = &run, .predicted = &predicted, .view = {.columns = columns}});
    const lessons::Timeline& timeline = tests::timeline_of(figure);
    CHECK_FALSE(timeline.parting);
    const auto line = std::ranges::find(timeline.lines, lessons::LineStyle::kPredicted, &lessons::StepLine::style);
    REQUIRE(line != timeline.lines.end());
    std::vector<double> totals;
    for (const lessons::StackColumn& column : timeline.stack)
      totals.push_back(static_cast<double>(record::total(column.high)));
    CHECK(line->y == totals);
    for (const int width : {columns, columns * 9 / 10})
      CHECK(tests::tops_of_line(timeline, *line, width) == tests::tops_of_stack(timeline, width));
  }
}

}  // namespace

TEST_CASE("a prediction of equal events lies on the measurement in each column and pixel") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  std::size_t equal = 0;
  for (const char* const folder : {"tests/predict/recordings", "assets/recordings"}) {
    for (const auto& file : std::filesystem::directory_iterator(std::string(HEADROOM_SOURCE_DIR "/") + folder)) {
      const auto read = Recording::read(file.path());
      REQUIRE(read.ok());
      const Recording& run = read.value();
      if (run.info().demo != "train_step" || !run.sweep_points().empty()) continue;
      const auto step = record::last_whole_step(run);
      if (!step || step->first == step->last) continue;
      INFO(file.path().stem());
      const Recording prediction = prediction_of(*planner, run);
      const record::Ledger is(run), said(prediction);
      const auto difference = lessons::step_difference(is, *step, said, *record::last_whole_step(prediction));
      if (difference.pairs.parting()) continue;
      CHECK(difference.peak.change() == 0);
      check_line(is, said);
      ++equal;
    }
  }
  CHECK(equal >= 45);
}

TEST_CASE("the peak of a GPU's step is predicted to the byte") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  const record::Schema schema = experiments::training_step().schema;
  std::size_t compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(HEADROOM_SOURCE_DIR "/tests/predict/recordings")) {
    INFO(file.path().stem());
    const auto read = Recording::read(file.path());
    REQUIRE(read.ok());
    const record::RunInfo& info = read.value().info();
    const auto trace =
        tests::planned(*planner, {.demo = info.demo, .params = record::Params::known_of(schema, info.params)});
    const Recording predicted = predict::placed(predict::with_gpu_extras(*trace, schema), info.cap);
    record::Ledger is(read.value()), said(predicted);
    is.update();
    said.update();
    CHECK(step_peak(said) == step_peak(is));
    CHECK(predicted.outcome()->kind == read.value().outcome()->kind);
    CHECK(said.peak_reserved() == is.peak_reserved());
    ++compared;
  }
  CHECK(compared >= 17);
}

TEST_CASE("a step in fp8 needs no more memory than one in bf16, apart from its scales") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  const record::Schema schema = experiments::training_step().schema;
  const auto peak = [&](const std::vector<std::string>& settings) {
    record::Params params(schema);
    for (const char* const setting : {"model=llama-3.2-1b", "device=cuda", "seq=1024", "precision=bf16", "loss=flce",
                                      "attention=cudnn", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on"})
      REQUIRE(params.set_assignment(setting).ok());
    for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
    const auto trace = tests::planned(*planner, {.demo = "train_step", .params = params});
    const Recording run = predict::placed(predict::with_gpu_extras(*trace, schema));
    record::Ledger ledger(run);
    ledger.update();
    return step_peak(ledger);
  };
  constexpr record::Bytes kScales = 32 << 10;  // scales for operands of 112 GEMMs: 27,648 B
  CHECK(peak({"batch=16", "gemm=fp8"}) <= peak({"batch=16"}) + kScales);
  CHECK(peak({"batch=96", "checkpointing=layer", "gemm=fp8"}) <= peak({"batch=96", "checkpointing=layer"}) + kScales);
}
