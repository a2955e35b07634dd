// One training step: forward, loss, backward, optimizer; what is switched on is said by TrainOptions.
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

// Moves weights and gradients around while a step runs. Calls come from the step's own thread, in the order of the
// work; a hook may mark phases and queue further work.
class LayerHooks {
 public:
  virtual ~LayerHooks() = default;
  // The layer's weights are read next, or have been: in forward (kForward), where checkpointing runs it again
  // (kRecompute; its backward follows and ends in gradients_ready, so after_layer(kRecompute) must not take the weights
  // away), and in an evaluation (kEvaluation; no backward follows). In a segment of several layers all of them are run
  // again before the last one's backward begins.
  virtual void before_layer(std::int64_t /*layer*/, record::Phase /*phase*/) {}
  virtual void after_layer(std::int64_t /*layer*/, record::Phase /*phase*/) {}
  // after_layer(kBackward): its backward is over; with micro-batches, once for each.
  // The `.grad` of all weights of this layer are complete and nothing reads its weights any more in this step.
  // kOuterLayer (embedding, final norm, head) comes last, when backward is over.
  virtual void gradients_ready(std::int64_t /*layer*/) {}
  // Marks that these calls set in one pass of forward and backward.
  virtual int marks_per_pass(const Config& /*config*/) const { return 0; }
};

struct TrainOptions {
  Checkpointing checkpointing = Checkpointing::kOff;
  std::int64_t checkpoint_every = 1;       // k of kLayer
  CheckpointStore* checkpoints = nullptr;  // of kLayer; null: they stay on the device. Not owned.
  LossOptions loss;
  at::Tensor loss_scale;                      // fp32 [] on the device: gradients are of the loss times it; undefined: 1
  std::int64_t micro_batches = 1;             // a step's samples are taken in so many portions, gradients add up
  at::Tensor not_finite;                      // int32 [L] on the device, or undefined: set where a layer's output in
                                              // forward holds an infinity or a NaN, and never cleared
  StepGraph* graph = nullptr;                 // null: every operator is launched by itself. Not owned.
  std::vector<LayerHooks*> hooks;             // called in this order; not owned
  const std::atomic<bool>* cancel = nullptr;  // read at every layer border, forward and backward

  bool keeps_layer_inputs() const { return checkpointing == Checkpointing::kLayer; }
};

// The loss and nothing else: forward and backward, leaving `.grad` on every weight. Token ids and targets: [n·B, T]
// int64, of n micro-batches. The loss is the mean over all of them: a scalar on the device, fp32; reading it is the
// caller's business.
at::Tensor forward_backward(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                            const TrainOptions& options);

// The loss without its gradients, of tokens as train_step takes them: forward as it trains, but nothing is kept. In phase
// kEvaluation. The tokens are let go on the way.
at::Tensor evaluation_loss(const Model& model, at::Tensor host_tokens_2BT, const TrainOptions& options);

// A whole step between mark_step(index) and mark_step(-1). `host_tokens_2BT` holds ids and targets on the host.
// Frees the gradients at its end. No value is read from the device and nothing branches on data. With a graph, a step
// that is replayed is one mark of forward: what is in it was said when it was recorded. `behind`, where there is one, is
// called with the loss at the end, within the step.
at::Tensor train_step(Model& model, Optimizer& optimizer, const at::Tensor& host_tokens_2BT,
                      const TrainOptions& options, int index,
                      const std::function<void(const at::Tensor& loss)>& behind = {});

// Marks that one whole step sets, mark_step included; and that evaluation_loss() sets.
int marks_per_step(const Config& config, const TrainOptions& options);
int marks_per_evaluation(const Config& config, const TrainOptions& options);

}  // namespace headroom::llama
