// Converts the planner's trace of a training step to its prediction. Pure: app/common/plan/predictions.h asks the
// planner.
#pragma once

#include <memory>
#include <optional>

#include "demos/predict/cards/cards.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::predict {

// `settings` with fewer steps and micro-batches, which predicted() repeats.
record::Params traced_settings(record::Params settings);

struct PredictedStep {
  // The trace without a limit; for a GPU, with its libraries' requests.
  std::shared_ptr<const record::Recording> requests;
  // `requests` under the settings' cap; for a GPU, placed in blocks and segments.
  std::shared_ptr<const record::Recording> recording;
};

struct PredictOptions {
  bool few_micro_batches = false;  // keep few of each step's micro-batches (more_micro_batches.h) and set no times
  const Card* card = nullptr;      // gives the phases' durations on a GPU; null: no times
};

// `trace` is the planner's recording of `traced`, which is either traced_settings(settings) or `settings`. Returns nullopt
// if the steps or micro-batches differ; the caller must then trace `settings` itself.
std::optional<PredictedStep> predicted(const record::Recording& trace, const record::Params& traced,
                                       const record::Params& settings, const PredictOptions& options);

// PredictedStep::recording for `requests`.
std::shared_ptr<const record::Recording> under_cap(const std::shared_ptr<const record::Recording>& requests);

}  // namespace headroom::predict
