// Reads the model and finds its weights.
#include "demos/experiments/train_step_model.h"

#include <filesystem>
#include <utility>

#include "demos/predict/step_settings.h"

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

}  // namespace headroom::experiments
