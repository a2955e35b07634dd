// Loss on held-out text, every `eval_every` steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/predict/step_settings.h"
#include "demos/tokens/token_view.h"

namespace headroom::experiments {

// Holds out the last tenth of the data. Every evaluation uses the same sequences, spaced evenly in that tenth, as many
// as a step trains on.
class Evaluation {
 public:
  Evaluation() = default;
  // Fails if the last tenth is shorter than a sequence with its target.
  static record::Result<Evaluation> create(const predict::StepSettings& step, tokens::TokenView data,
                                           const RunPlace& place, const llama::BatchPart& part);

  tokens::TokenView training() const { return training_; }
  // `index` counts from 0. A plan has only the first steps, so its evaluation, if any, follows the last of these.
  bool follows(int index) const { return every_ > 0 && (index + 1) % every_ == 0; }

  // Runs in phase kEvaluation. Waits for the device before and after, except on meta.
  void run(const llama::Model& model, const llama::TrainOptions& options, const at::Tensor& loss_of_step);

  // Adds the last evaluation's loss and time, once.
  void add_to(StepReport& report);
  // "the last 5217 of 52177 tokens"; empty: none.
  std::string held_out() const;
  int marks(const llama::Config& config, const llama::TrainOptions& options) const;

 private:
  explicit Evaluation(tokens::TokenView data) : training_(data), held_out_(data) {}

  tokens::TokenView training_{nullptr, 0, 1},
      held_out_{nullptr, 0, 1};  // both view all data in a plan, or if nothing is held out
  llama::BatchPart part_;
  std::int64_t batch_ = 0, seq_ = 0;
  int every_ = 0;  // steps; 0: never
  std::optional<double> loss_;
  record::Nanoseconds time_ = 0;
};

}  // namespace headroom::experiments
