// One training step: forward, loss, backward, optimizer, as TrainOptions say.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/checkpoint.h"
#include "demos/engine/llama/model/loss.h"
#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/step/cuda_graph.h"
#include "demos/predict/techniques.h"

namespace headroom::llama {

using predict::Checkpointing;

// Weights outside the layers. A tied head is the embedding's table.
enum class OuterPart : std::uint8_t { kEmbedding, kHead };

// Moves weights and gradients during a step. Called on the step's thread, in the order of the work; may mark phases and
// queue work.
class LayerHooks {
 public:
  virtual ~LayerHooks() = default;
  // Called before and after a layer's weights are read, in forward, recompute and evaluation (without backward), and
  // before the backward of a layer that is not recomputed.
  // after_layer(kBackward) is called after the layer's backward in each micro-batch. after_layer(kRecompute) must keep
  // the weights for backward. All layers of a segment are recomputed before the backward pass of its last layer.
  virtual void before_layer(std::int64_t /*layer*/, record::Phase /*phase*/) {}
  virtual void after_layer(std::int64_t /*layer*/, record::Phase /*phase*/) {}
  // The same for the embedding and the head. The head is used from the final norm to the end of its backward.
  virtual void before_outer(OuterPart /*part*/, record::Phase /*phase*/) {}
  virtual void after_outer(OuterPart /*part*/, record::Phase /*phase*/) {}
  // Called after a layer's backward in each micro-batch; `.grad` is the sum so far. kOuterLayer comes last.
  virtual void gradients_added(std::int64_t layer, bool last) {
    if (last) gradients_ready(layer);
  }
  // Called when `.grad` is complete for all weights of this layer, and nothing reads these weights anymore in this
  // step. kOuterLayer comes last, after backward.
  virtual void gradients_ready(std::int64_t /*layer*/) {}
  // Called in the optimizer's step before the update of the outer weights, whose gradients must be complete on return.
  virtual void before_outer_update() {}
  // Called after the optimizer's step.
  virtual void weights_updated() {}
  // Number of marks that these calls set per forward and backward pass.
  virtual int marks_per_pass(const Config& /*config*/) const { return 0; }
};

struct TrainOptions {
  std::int64_t recompute_every = 0;        // layers per kept input, recomputed together; 0: none are recomputed
  bool selective = false;                  // layers recompute what is cheap
  CheckpointStore* checkpoints = nullptr;  // null: inputs stay on the device; not owned
  LossOptions loss;
  at::Tensor loss_scale;                                  // fp32 [] on the device, factor of the loss; undefined: 1
  std::int64_t ranks = 1;                                 // processes whose losses are averaged
  std::function<void(const at::Tensor&)> sum_over_ranks;  // sums an fp32 scalar in place; empty: one rank
  std::int64_t micro_batches = 1;                         // equal portions of a step's samples; gradients add up
  at::Tensor not_finite;                      // int32 [L] on the device, or undefined: set if a layer's output in
                                              // forward holds an infinity or a NaN, never cleared
  StepGraph* graph = nullptr;                 // null: launches every operator; not owned
  std::vector<LayerHooks*> hooks;             // called in this order; not owned
  const std::atomic<bool>* cancel = nullptr;  // polled at layer borders, forward and backward
};

// Runs forward and backward, and leaves `.grad` on every weight. Ids and targets: [n·B, T] int64 for n micro-batches.
// Returns the micro-batches' mean loss, an fp32 scalar on the device.
at::Tensor forward_backward(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                            const TrainOptions& options);

// Returns the loss of tokens as in train_step, without gradients, in phase kEvaluation. Frees the tokens on the way.
at::Tensor evaluation_loss(const Model& model, at::Tensor host_tokens_2BT, const TrainOptions& options);

// Runs a whole step between mark_step(index) and mark_step(-1), for ids and targets on the host. Frees the gradients.
// Reads no value from the device, and nothing branches on data. A replayed step sets only the mark of forward, because
// its other marks were set at capture. `behind`, if any, is called at the end.
at::Tensor train_step(Model& model, Optimizer& optimizer, const at::Tensor& host_tokens_2BT,
                      const TrainOptions& options, int index,
                      const std::function<void(const at::Tensor& loss)>& behind = {});

// Number of marks per step, including mark_step's, and per evaluation_loss().
int marks_per_step(const Config& config, const TrainOptions& options);
int marks_per_evaluation(const Config& config, const TrainOptions& options);

}  // namespace headroom::llama
