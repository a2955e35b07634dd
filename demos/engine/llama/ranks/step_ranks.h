// One rank of a training step: its connections, and the hooks that share weights, gradients and optimizer state.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/ranks/gathered_weights.h"
#include "demos/engine/llama/ranks/reduced_gradients.h"
#include "demos/record/rows/collective.h"

namespace headroom::llama {

// Connects one group of ranks, named in the options.
using MakeCollectives =
    std::function<std::unique_ptr<Collectives>(int rank, int ranks, record::Axis axis, const std::string& group)>;

// Must outlive model, optimizer and steps.
class StepRanks {
 public:
  // Neighboring ranks share a copy of the states. Throws what `make` throws.
  StepRanks(const predict::ParallelSettings& parallel, int rank, const MakeCollectives& make);

  int rank() const { return rank_; }
  // True for the ranks that share the first copy of the states.
  bool in_first_copy() const { return rank_ < parallel_.shards(); }
  // Returns once all ranks have called it.
  void barrier();
  // Call before the model is made. Returns a function for ModelSource::layer_made, which may be empty.
  std::function<void(LayerWeights&)> layer_made(const Config& config, const TrainOptions& step);
  // Call after the model is made. Returns what the optimizer updates.
  std::vector<Parameter> parameters(const Model& model);
  // For Optimizer::shares_weights(); empty if every rank updates all weights.
  std::function<void(const at::Tensor&)> sum_over_shards() const;
  // Call after all other hooks were added to the step.
  void install(TrainOptions& step);
  // The device waits for updated weights that are still on their way.
  void finish() { gradients_->finish(); }

 private:
  predict::ParallelSettings parallel_;
  int rank_;
  std::unique_ptr<Collectives> shards_, copies_;  // null: one rank
  std::unique_ptr<GatheredWeights> gathered_;     // null unless the weights are shared
  std::unique_ptr<ReducedGradients> gradients_;
};

}  // namespace headroom::llama
