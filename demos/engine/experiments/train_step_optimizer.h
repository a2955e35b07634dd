// What steps the weights of `train_step`, by its settings: the optimizer, the loss scale, and who counts magnitudes.
#pragma once

#include <memory>
#include <vector>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/host/offload.h"
#include "demos/engine/llama/optimizers/learning_rate.h"
#include "demos/engine/llama/optimizers/optimizer_in_backward.h"
#include "demos/engine/llama/step/loss_scaling.h"
#include "demos/engine/llama/step/magnitudes.h"
#include "demos/predict/step_settings.h"

namespace headroom::experiments {

class StepOptimizer {
 public:
  // Takes the memory of the optimizer's state, and installs in `options` what belongs to it; outlives the steps. After
  // Offload::install. Masters begin as `files`, the model's checkpoint, has them; null: there is none, or it is not read.
  // Throws UnusableWeights.
  StepOptimizer(const predict::StepSettings& step, const llama::Model& model, llama::Offload& offload,
                llama::TrainOptions& options, const llama::StoredWeights* files = nullptr);

  llama::Optimizer& optimizer() { return *optimizer_; }
  // Before a step: sets its learning rate. `number` and `end`, this run's first number behind its last step, count what
  // the runs that it goes on from have done as well.
  void begin_step(std::int64_t number, std::int64_t end);
  // The optimizer's, with the loss scale; as Optimizer has them. Between steps.
  std::vector<llama::StateTensor> state();
  void restored() { optimizer_->restored(); }
  // Loss scale, skipped steps, histograms of this step, which was the last. Waits for the device.
  void add_to(StepReport& report, int step);

 private:
  llama::RateSchedule schedule_;
  std::int64_t schedule_steps_;                   // 0: up to the run's end
  std::unique_ptr<llama::LossScale> loss_scale_;  // null: none
  std::unique_ptr<llama::Optimizer> optimizer_;
  llama::HostAdamW* host_ = nullptr;                      // the same, where it steps on the host
  std::unique_ptr<llama::StepMagnitudes> magnitudes_;     // null: not counted
  std::unique_ptr<llama::UpdateInBackward> in_backward_;  // null: the step ends with the optimizer
};

}  // namespace headroom::experiments
