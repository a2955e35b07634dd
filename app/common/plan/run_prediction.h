// Predicts a recorded training step with the settings that it ran with.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/common/session.h"
#include "demos/record/recording.h"

namespace headroom::app {

struct RunPrediction {
  std::shared_ptr<const record::Recording> recording;  // null: not predicted
  std::string why_not;                                 // a sentence; empty if `stop` returned true
};

// `few_micro_batches`: see PlannedRun. `stop`: see Predictions::wait().
RunPrediction predict_run(const record::Recording& run, Session& session, bool few_micro_batches,
                          const std::function<bool()>& stop);

}  // namespace headroom::app
