// Compares the planner's trace, with a GPU's extras and allocator, with recorded runs.
#include <filesystem>
#include <string>
#include <vector>

#include "demos/backend/backend.h"
#include "demos/experiments/demo.h"
#include "demos/predict/allocator/placed.h"
#include "demos/predict/cards/gpu_extras.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/live/planned.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::Recording;

namespace {

// Peak of the last whole step, or of the whole run if no step is whole or a replayed graph requests nothing.
record::Bytes step_peak(const record::Ledger& run) {
  const auto step = record::last_whole_step(run.recording());
  return (step && step->last > step->first ? run.peak(step->first, step->last) : run.peak()).totals.allocated;
}

}  // namespace

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
