// Runs `train_step`: trains a Llama on one device.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "demos/engine/experiments/demo_run.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

class TrainStepRun final : public DemoRun {
 public:
  // Checks parameters (demos/experiments/train_step_info.cpp) and data, then allocates weights, optimizer state and
  // tables in phase setup. Refuses with one sentence.
  static record::Result<std::unique_ptr<TrainStepRun>> create(const record::Params& params, const RunSetting& setting);
  ~TrainStepRun() override;

  // Batch, forward, loss, backward, optimizer and, when due, an evaluation. Only the evaluation waits for the device.
  StepResult step(int index) override;
  int steps() const override;
  int distinct_steps() const override;
  int marks_per_step() const override;
  StepReport report() override;
  std::string note() const override;
  std::map<std::string, std::string> found() const override;
  record::Status finish() override;

  std::int64_t tokens_per_step() const;  // batch · micro-batches · seq
  std::int64_t num_parameters() const;
  double loss() const;  // of the last step, in nats per token; waits for the device

 private:
  struct State;
  static record::Status keep(const predict::StepSettings& step, const RunPlace& place, State& state);
  explicit TrainStepRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom::experiments
