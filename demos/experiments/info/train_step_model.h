// Model, checkpoint and data of `train_step`. No torch, so that the command line can report errors before an
// engine starts.
#pragma once

#include <filesystem>
#include <optional>

#include "demos/llama/config.h"
#include "demos/llama/described_model.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/predict/step_settings.h"
#include "demos/record/result.h"
#include "demos/tokens/token_data.h"

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

// Training data and its tokenizer: the settings' file, otherwise the course's text. A text uses the tokenizer.json in
// the model's folder, if there is one. `step` must have the trained model.
tokens::DataSource data_source(const predict::StepSettings& step, const std::filesystem::path& course_text);

}  // namespace headroom::experiments
