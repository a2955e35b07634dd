// One training step: forward, loss, backward, optimizer; what is switched on is said by TrainOptions.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/llama/loss.h"
#include "demos/llama/model.h"
#include "demos/llama/optimizer.h"

namespace headroom::llama {

enum class Checkpointing : std::uint8_t {
  kOff,    // every layer keeps what its backward needs
  kLayer,  // a layer keeps its input only and is computed again in backward
};

// Who moves weights and gradients around while a step runs. Calls come from the step's own thread, in the order of the
// work; a hook may mark phases and queue work of its own.
class LayerHooks {
 public:
  virtual ~LayerHooks() = default;
  // The layer's weights are read next, or have been: in forward (kForward) and where checkpointing runs it again
  // (kRecompute; its backward follows and ends in gradients_ready).
  virtual void before_layer(std::int64_t /*layer*/, record::Phase /*phase*/) {}
  virtual void after_layer(std::int64_t /*layer*/, record::Phase /*phase*/) {}
  // The `.grad` of all weights of this layer are complete and nothing reads its weights any more in this step.
  // kOuterLayer (embedding, final norm, head) comes last, when backward is over.
  virtual void gradients_ready(std::int64_t /*layer*/) {}
};

struct TrainOptions {
  Checkpointing checkpointing = Checkpointing::kOff;
  LossOptions loss;
  std::vector<LayerHooks*> hooks;             // called in this order; not owned
  const std::atomic<bool>* cancel = nullptr;  // read at every layer border, forward and backward
};

// The loss and nothing else: forward and backward, leaving `.grad` on every weight. token ids and targets: [B, T]
// int64. The loss is a scalar on the device, fp32; reading it is the caller's business.
at::Tensor forward_backward(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                            const TrainOptions& options);

// A whole step between mark_step(index) and mark_step(-1). `host_tokens_2BT` holds ids and targets on the host.
// Frees the gradients at its end. No value is read from the device and nothing branches on data.
at::Tensor train_step(Model& model, Optimizer& optimizer, const at::Tensor& host_tokens_2BT, const TrainOptions& options,
                      int index);

// Marks that one whole step sets, mark_step included.
int marks_per_step(const Config& config, const TrainOptions& options);

}  // namespace headroom::llama
