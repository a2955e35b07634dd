// Runs `train_step`: trains a Llama on one device.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "demos/engine/experiments/demo_run.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

class TrainStepRequest final : public DemoRequest {
 public:
  // Refuses an invalid shape (kRefused), and a checkpoint that is damaged or of another model (kBadInput).
  static record::Result<std::unique_ptr<TrainStepRequest>> read(const record::Params& params);

  std::map<std::string, std::string> facts(const RunSetting& setting) const override;
  record::Result<std::map<std::string, std::string>> prepare(const RunSetting& setting) override;
  record::Result<std::unique_ptr<DemoRun>> make(const RunSetting& setting) override;

  const predict::StepSettings& settings() const { return settings_; }
  const std::optional<llama::StoredWeights>& weights() const { return weights_; }

 private:
  TrainStepRequest(predict::StepSettings settings, std::optional<llama::StoredWeights> weights)
      : settings_(std::move(settings)), weights_(std::move(weights)) {}

  predict::StepSettings settings_;
  std::optional<llama::StoredWeights> weights_;  // nullopt: random weights
};

class TrainStepRun final : public DemoRun {
 public:
  // Checks the data before it allocates anything. Refuses with one sentence.
  static record::Result<std::unique_ptr<TrainStepRun>> create(const TrainStepRequest& request,
                                                              const RunSetting& setting);
  // Also reads the request, and refuses settings that exclude each other.
  static record::Result<std::unique_ptr<TrainStepRun>> create(const record::Params& params, const RunSetting& setting);
  ~TrainStepRun() override;

  // Waits for the device only in an evaluation.
  StepResult step(int index) override;
  int steps() const override;
  int distinct_steps() const override;
  int marks_per_step() const override;
  StepReport report() override;
  std::string note() const override;
  std::map<std::string, std::string> found() const override;
  record::Status finish() override;

  std::int64_t tokens_per_step() const;  // batch · micro-batches · seq · ranks
  std::int64_t num_parameters() const;
  double loss() const;  // of the last step, in nats per token; waits for the device

 private:
  struct State;
  explicit TrainStepRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom::experiments
