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

struct BuiltStep {
  const predict::StepSettings& settings;
  const llama::Model& model;
  StepOptimizer& optimizer;
  llama::StepRanks* ranks = nullptr;  // null: one rank
  std::string run = {};               // of several ranks: a name that all ranks share, and no other run has
  std::int64_t ids = 0;               // token ids in the data
};

// Reads the folder `resume` into model and optimizer, and returns the steps trained so far. Any number of ranks may
// have written it. Refuses a folder of another model, optimizer, seed or data. Throws llama::UnusableWeights.
record::Result<std::int64_t> resume(const BuiltStep& step);

// Writes the folder `save`: model.safetensors with config.json, or adapter_model.safetensors with adapter_config.json,
// the model's tokenizer and, with save_state, the training state. Several ranks write the same files as one rank: each
// its own parts, and rank 0 everything that is whole. Calls throw llama::CollectiveError.
class StepSaver {
 public:
  // Reserves disk space. The saver refers to the model and the optimizer.
  static record::Result<std::unique_ptr<StepSaver>> create(const BuiltStep& step);
  // `steps`: trained steps in total.
  record::Status write(std::int64_t steps);

 private:
  StepSaver(std::unique_ptr<llama::NewFolder> folder, const BuiltStep& step);
  record::Status reserve();
  record::Status put_texts(const BuiltStep& step);

  std::unique_ptr<llama::NewFolder> folder_;
  llama::StepRanks* ranks_;
  std::vector<llama::TensorFile> files_;
  llama::TrainingPlace place_;
  bool with_place_;
};

}  // namespace headroom::experiments
