// Saves and resumes runs of `train_step`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "demos/engine/experiments/train_step_optimizer.h"
#include "demos/engine/llama/model/weights/stored_tensors.h"
#include "demos/llama/training_place.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

// `ids`: number of token ids in the data.
struct BuiltStep {
  const predict::StepSettings& settings;
  const llama::Model& model;
  StepOptimizer& optimizer;
  std::int64_t ids = 0;
};

// Reads the folder `resume` into model and optimizer, and returns the steps trained so far. Refuses a folder of another
// model, optimizer, seed or data. Throws llama::UnusableWeights.
record::Result<std::int64_t> resume(const BuiltStep& step);

// Writes the folder `save`: model.safetensors with config.json, or adapter_model.safetensors with adapter_config.json,
// the model's tokenizer and, with save_state, the training state.
class StepSaver {
 public:
  // Reserves disk space. The saver refers to the model and the optimizer.
  static record::Result<std::unique_ptr<StepSaver>> create(const BuiltStep& step);
  // `steps`: trained steps in total.
  record::Status write(std::int64_t steps);

 private:
  StepSaver(std::unique_ptr<llama::NewFolder> folder, llama::TrainingPlace place, bool with_place)
      : folder_(std::move(folder)), place_(place), with_place_(with_place) {}
  record::Status put_texts(const BuiltStep& step);

  std::unique_ptr<llama::NewFolder> folder_;
  std::vector<llama::TensorFile> files_;
  llama::TrainingPlace place_;
  bool with_place_;
};

}  // namespace headroom::experiments
