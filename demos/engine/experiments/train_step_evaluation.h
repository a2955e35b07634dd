// The loss on held-out text, every so many steps of a run (`eval_every`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/predict/step_settings.h"
#include "demos/tokens/token_view.h"

namespace headroom::experiments {

// With eval_every the last tenth of the data is held out. An evaluation takes as many sequences as a step trains on, which
// begin at even distances in that tenth, and always the same ones.
class Evaluation {
 public:
  // Refused with a sentence: a tenth that is shorter than a sequence and its last target.
  static record::Result<Evaluation> create(const predict::StepSettings& step, tokens::TokenView data,
                                           const RunPlace& place);

  // What is left to train on.
  tokens::TokenView training() const { return training_; }
  // Whether this step, counted from 0, is followed by one. A plan, which makes the first steps alone, has one behind the
  // last of these, for all that would come later.
  bool follows(int index) const { return every_ > 0 && (index + 1) % every_ == 0; }

  // In phase kEvaluation. Off meta it waits for the device before and after.
  void run(const llama::Model& model, const llama::TrainOptions& options, const at::Tensor& loss_of_step);

  // Of the step before, once: the loss, and the time that it took.
  void add_to(StepReport& report);
  // "the last 5217 of 52177 tokens"; empty: none.
  std::string held_out() const;
  int marks(const llama::Config& config, const llama::TrainOptions& options) const;

 private:
  explicit Evaluation(tokens::TokenView data) : training_(data), held_out_(data) {}

  tokens::TokenView training_, held_out_;  // both all of the data where nothing is held out: of a plan, too
  std::int64_t batch_ = 0, seq_ = 0;
  int every_ = 0;  // steps; 0: never
  std::optional<double> loss_;
  record::Nanoseconds time_ = 0;
};

}  // namespace headroom::experiments
