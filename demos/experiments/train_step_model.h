// Which model the settings of `train_step` name, and which checkpoint or config.json. No torch, so that the command line
// can say what is wrong before an engine starts.
#pragma once

#include <optional>

#include "demos/llama/config.h"
#include "demos/llama/described_model.h"
#include "demos/llama/hugging_face.h"
#include "demos/predict/step_settings.h"
#include "demos/record/result.h"

namespace headroom::experiments {

struct TrainStepModel {
  llama::Config config;
  std::optional<llama::StoredWeights> weights;  // checked; nothing: drawn at random
};

// Refused: a shape that cannot be (kRefused), a checkpoint that is damaged or of another model (kBadInput). model=custom
// with `weights` takes its shape from the config.json there; where that is all, weights are drawn at random.
record::Result<TrainStepModel> train_step_model(const predict::StepSettings& step);

// For the closed form: the same models, and those that a config.json describes and the step does not have. No run takes
// one whose `beyond_step` says something.
record::Result<llama::DescribedModel> described_model(const predict::StepSettings& step);

}  // namespace headroom::experiments
