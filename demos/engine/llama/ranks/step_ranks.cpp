// Builds the hooks of a rank.
#include "demos/engine/llama/ranks/step_ranks.h"

#include <span>
#include <string>
#include <utility>

namespace headroom::llama {

namespace {

void sum(Collectives* axis, const at::Tensor& tensor) {
  if (axis == nullptr) return;
  axis->wait_for_device();
  axis->all_reduce(std::span(&tensor, 1));
  axis->done().device_waits();
}

}  // namespace

StepRanks::StepRanks(const predict::ParallelSettings& parallel, int rank, const MakeCollectives& make)
    : parallel_(parallel), rank_(rank) {
  const auto shards = static_cast<int>(parallel.shards()), copies = static_cast<int>(parallel.copies());
  if (shards > 1)
    shards_ = make(rank % shards, shards, record::Axis::kShards, "shards" + std::to_string(rank / shards));
  if (copies > 1) copies_ = make(rank / shards, copies, record::Axis::kData, "copies" + std::to_string(rank % shards));
}

void StepRanks::barrier() {
  if (shards_) shards_->barrier();
  if (copies_) copies_->barrier();
}

std::function<void(LayerWeights&)> StepRanks::layer_made(const Config& config, const TrainOptions& step) {
  if (!parallel_.shares(predict::Zero::kWeights)) return {};
  gathered_ = std::make_unique<GatheredWeights>(config, parallel_, step.recompute_every, *shards_);
  return [this](LayerWeights& layer) { gathered_->take(layer); };
}

std::vector<Parameter> StepRanks::parameters(const Model& model) {
  if (gathered_) gathered_->take_outer(model);
  gradients_ = std::make_unique<ReducedGradients>(parallel_, RankAxes{.shards = shards_.get(), .copies = copies_.get()},
                                                  gathered_.get());
  return gradients_->parts(trainable_parameters(model));
}

std::function<void(const at::Tensor&)> StepRanks::sum_over_shards() const {
  if (!shards_) return {};
  return [axis = shards_.get()](const at::Tensor& tensor) { sum(axis, tensor); };
}

void StepRanks::install(TrainOptions& step) {
  step.ranks = parallel_.ranks;
  step.sum_over_ranks = [this](const at::Tensor& loss) {
    sum(shards_.get(), loss);
    sum(copies_.get(), loss);
  };
  gradients_->then(std::exchange(step.hooks, {}));
  if (step.graph != nullptr) gradients_->finish_in_step();
  if (gathered_) step.hooks.push_back(gathered_.get());
  step.hooks.push_back(gradients_.get());
}

}  // namespace headroom::llama
