// Holds out text and evaluates on it.
#include "demos/engine/experiments/train_step_evaluation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "demos/engine/llama/step/data.h"

namespace headroom::experiments {

record::Result<Evaluation> Evaluation::create(const predict::StepSettings& step, tokens::TokenView data,
                                              const RunPlace& place, const llama::BatchPart& part) {
  constexpr std::size_t kShare = 10;
  Evaluation evaluation(data);
  if (step.eval_every == 0) return evaluation;
  evaluation.batch_ = step.batch * step.micro_batches;
  evaluation.part_ = part;
  evaluation.seq_ = step.sequence;
  evaluation.every_ = step.eval_every;
  if (place.device.is_meta()) {  // a plan has no data
    if (step.eval_every <= step.steps) evaluation.every_ = std::min(step.eval_every, kPlannedSteps);
    return evaluation;
  }
  const std::size_t tenth = data.size() / kShare;
  if (tenth <= static_cast<std::size_t>(step.sequence))
    return record::Error{"eval_every holds out the last tenth of the data, which has " + std::to_string(tenth) +
                         " tokens, but a sequence with its last target needs " + std::to_string(step.sequence + 1) +
                         "; use more data, a smaller seq, or eval_every=0."};
  evaluation.training_ = data.part(0, data.size() - tenth);
  evaluation.held_out_ = data.part(data.size() - tenth, tenth);
  return evaluation;
}

void Evaluation::run(const llama::Model& model, const llama::TrainOptions& options, const at::Tensor& loss_of_step) {
  const bool computes = !loss_of_step.is_meta();
  if (computes) (void)loss_of_step.item<float>();  // waits for the step
  const auto begun = std::chrono::steady_clock::now();
  record::mark(record::Phase::kEvaluation);
  const at::Tensor loss =
      llama::evaluation_loss(model, llama::make_even_batch(held_out_, batch_, seq_, part_), options);
  if (!computes) return;
  loss_ = loss.item<double>();
  time_ = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count();
}

void Evaluation::add_to(StepReport& report) {
  report.evaluation_loss = std::exchange(loss_, std::nullopt);
  report.evaluation_time = std::exchange(time_, 0);
}

std::string Evaluation::held_out() const {
  if (every_ == 0) return {};
  return "the last " + std::to_string(held_out_.size()) + " of " + std::to_string(training_.size() + held_out_.size()) +
         " tokens";
}

int Evaluation::marks(const llama::Config& config, const llama::TrainOptions& options) const {
  return every_ == 0 ? 0 : 1 + llama::marks_per_evaluation(config, options);
}

}  // namespace headroom::experiments
