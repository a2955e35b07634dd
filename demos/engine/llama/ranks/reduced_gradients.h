// Sums gradients over ranks, and gives each rank the part of them that it updates: data parallelism and ZeRO.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/ranks/gathered_weights.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/predict/parallel.h"

namespace headroom::llama {

// The ranks along one axis each; null: one rank. Not owned.
struct RankAxes {
  Collectives* shards = nullptr;  // ranks that share one copy of the states
  Collectives* copies = nullptr;  // ranks with the same share
};

// Layer i's gradients are summed while layer i - 1 is in backward, and are kept until then. The outer weights' come
// last, while the optimizer updates the layers. It updates this rank's parts: a slice and the rest of each matrix, and
// whole norms.
class ReducedGradients final : public LayerHooks {
 public:
  // `gathered`: null unless the weights are shared; not owned.
  ReducedGradients(const predict::ParallelSettings& parallel, RankAxes axes, const GatheredWeights* gathered);

  // Returns the parts of these weights that this rank updates, with their gradients' places.
  std::vector<Parameter> parts(std::vector<Parameter> weights);
  // Hooks that read the sums: their gradients_ready() follows when a layer's sums are complete. Not owned.
  void then(std::vector<LayerHooks*> hooks) { then_ = std::move(hooks); }
  // Steps end with all updated weights in place. A CUDA graph needs this: it cannot wait for work outside it.
  void finish_in_step() { finishes_in_step_ = true; }
  // The device waits for updated weights that are still on their way.
  void finish();

  void before_layer(std::int64_t layer, record::Phase phase) override;
  void after_layer(std::int64_t layer, record::Phase phase) override;
  void gradients_added(std::int64_t layer, bool last) override;
  void before_outer_update() override { finish_running(); }
  void weights_updated() override;
  int marks_per_pass(const Config& config) const override;

 private:
  // A weight of the model, whose gradient autograd makes, and the tensors that the optimizer updates.
  struct Weight {
    at::Tensor whole;
    std::uint16_t layer = record::kNoLayer, op = record::kNoOperator;
    predict::Cut cut;
    at::Tensor slice, rest;  // undefined if empty
    bool is_view = true;     // slice and rest are views of `whole`
  };
  struct Sum {
    const Weight* weight = nullptr;
    at::Tensor gradient, summed;  // flat; the same unless sums are in fp32
  };
  // Gradients of some layers on their way.
  struct Reduction {
    std::vector<std::int64_t> layers;
    std::vector<Sum> sums;
    bool last = false;
    CopyDone done;
  };

  // The axis that gradients are summed along in backward.
  Collectives& axis() const { return *(axes_.shards != nullptr ? axes_.shards : axes_.copies); }
  bool each_micro_batch() const { return parallel_.shares(predict::Zero::kGradients); }
  void start(bool last);
  void start_sums(const Reduction& reduction) const;
  void finish_running();
  void keep_part(const Sum& sum) const;
  void keep_part(const Sum& sum, const at::Tensor& part, std::int64_t first, std::int64_t count) const;
  void sum_over_copies(const Reduction& reduction) const;
  void gather(std::int64_t layer);

  predict::ParallelSettings parallel_;
  RankAxes axes_;
  const GatheredWeights* gathered_;
  std::map<std::int64_t, std::vector<Weight>> weights_;  // by layer
  std::vector<LayerHooks*> then_;
  bool finishes_in_step_ = false;
  std::vector<std::int64_t> waiting_;  // layers that do not fill a bucket yet
  record::Bytes waiting_bytes_ = 0;
  std::optional<Reduction> running_;
  std::map<std::int64_t, CopyDone> arrives_;  // updated weights, by layer
};

}  // namespace headroom::llama
