// Model and checkpoint of `train_step`. No torch, so that the command line can report errors before an engine starts.
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
  std::optional<llama::StoredWeights> weights;  // checked; nullopt: random weights
};

// Refuses an invalid shape (kRefused), and a checkpoint that is damaged or of another model (kBadInput). model=custom
// takes its shape from the config.json in `weights`; without weight files the weights are random.
record::Result<TrainStepModel> train_step_model(const predict::StepSettings& step);

// For the closed form: also supports models that a step cannot train. Runs refuse a model whose `beyond_step` is set.
record::Result<llama::DescribedModel> described_model(const predict::StepSettings& step);

}  // namespace headroom::experiments
