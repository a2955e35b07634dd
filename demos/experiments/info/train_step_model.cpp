// Reads the model and finds its weights.
#include "demos/experiments/info/train_step_model.h"

#include <utility>

namespace headroom::experiments {

record::Result<TrainStepModel> train_step_model(const predict::StepSettings& step) {
  TrainStepModel model{.config = step.model, .weights = {}};
  const std::filesystem::path weights = step.files.weights;
  if (weights.empty()) {
    if (const record::Status fits = llama::check(model.config); !fits) return fits.error();
    return model;
  }
  const record::Result<llama::Config> stored = llama::read_hugging_face_config(weights);
  if (!stored) return stored.error();
  if (llama::find_config(model.config.id) == nullptr) {
    model.config = stored.value();
  } else if (const record::Status same = llama::check_same(model.config, stored.value(), weights); !same) {
    return same.error();
  }
  if (llama::is_config_alone(weights)) return model;
  record::Result<llama::StoredWeights> found = llama::find_weights(weights, model.config);
  if (!found) return found.error();
  model.weights = std::move(found).value();
  return model;
}

record::Result<llama::DescribedModel> described_model(const predict::StepSettings& step) {
  if (!step.files.weights.empty() && llama::find_config(step.model.id) == nullptr)
    return llama::read_described_model(step.files.weights);
  llama::DescribedModel model;
  model.config = step.model;
  return model;
}

tokens::DataSource data_source(const predict::StepSettings& step, const std::filesystem::path& course_text) {
  tokens::DataSource source{.file = step.files.text.empty() ? course_text : std::filesystem::path(step.files.text),
                            .tokenizer = {},
                            .vocabulary = step.model.vocab_size,
                            .data_type = step.files.data_type};
  if (step.files.weights.empty()) return source;
  const std::filesystem::path tokenizer = llama::model_folder(step.files.weights) / llama::kTokenizerFile;
  std::error_code failed;
  if (std::filesystem::exists(std::filesystem::symlink_status(tokenizer, failed))) source.tokenizer = tokenizer;
  return source;
}

}  // namespace headroom::experiments
