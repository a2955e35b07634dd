// Optimizer, loss scale and magnitude counts of `train_step`.
#pragma once

#include <memory>
#include <vector>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/host/offload.h"
#include "demos/engine/llama/optimizers/learning_rate.h"
#include "demos/engine/llama/optimizers/optimizer_in_backward.h"
#include "demos/engine/llama/ranks/step_ranks.h"
#include "demos/engine/llama/step/loss_scaling.h"
#include "demos/engine/llama/step/magnitudes.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

class StepOptimizer {
 public:
  // Allocates the optimizer's state and adds hooks to `options`; the object must outlive the steps. Call after
  // Offload::install. `ranks` (null: one rank) decides which parts of the weights it updates. Master weights start from
  // the checkpoint `files`, unless that is null. Throws UnusableWeights.
  StepOptimizer(const predict::StepSettings& step, const llama::Model& model, llama::Offload& offload,
                llama::TrainOptions& options, const llama::StoredWeights* files = nullptr,
                llama::StepRanks* ranks = nullptr);

  llama::Optimizer& optimizer() { return *optimizer_; }
  // Sets the learning rate of step `number`. `number` and `end` (exclusive) count over the whole training, resumed runs
  // included.
  void begin_step(std::int64_t number, std::int64_t end);
  // Optimizer::state() with the loss scale. Call between steps.
  std::vector<llama::StateTensor> state();
  void restored() { optimizer_->restored(); }
  // Adds loss scale, skipped steps and histograms of the last step. Waits for the device.
  void add_to(StepReport& report, int step);

 private:
  llama::RateSchedule schedule_;
  std::int64_t schedule_steps_;  // 0: until the run's end
  std::unique_ptr<llama::LossScale> loss_scale_;
  std::unique_ptr<llama::Optimizer> optimizer_;
  llama::HostAdamW* host_ = nullptr;  // equals optimizer_ on the host; else null
  std::unique_ptr<llama::StepMagnitudes> magnitudes_;
  std::unique_ptr<llama::UpdateInBackward> in_backward_;
};

}  // namespace headroom::experiments
