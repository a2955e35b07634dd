// What `train_step` keeps of a run, and how another run goes on from it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "demos/engine/experiments/train_step_optimizer.h"
#include "demos/engine/llama/model/stored_tensors.h"
#include "demos/llama/training_place.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

// A run whose model and optimizer are built, and how many ids its data has.
struct BuiltStep {
  const predict::StepSettings& settings;
  const llama::Model& model;
  StepOptimizer& optimizer;
  std::int64_t ids = 0;
};

// The values of the folder `resume` in the model and the optimizer's state; returns the steps that they took. Refused with
// a sentence: a folder of another model, optimizer, seed or data. Throws llama::UnusableWeights.
record::Result<std::int64_t> resume(const BuiltStep& step);

// The folder `save`: model.safetensors with config.json, or adapter_model.safetensors with adapter_config.json, the
// tokenizer of the model's folder, and with save_state the training's state.
class StepSaver {
 public:
  // Takes the room on the disk. Refused with a sentence. What is written refers to the model and the optimizer.
  static record::Result<std::unique_ptr<StepSaver>> create(const BuiltStep& step);
  // After so many steps in all.
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
