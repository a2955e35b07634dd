// One training step: forward, loss, backward, AdamW; what is switched on is said by TrainOptions.
#pragma once

#include <atomic>
#include <cstdint>

#include <ATen/ATen.h>

#include "demos/llama/loss.h"
#include "demos/llama/model.h"
#include "demos/llama/optimizer.h"

namespace headroom::llama {

enum class Checkpointing : std::uint8_t {
  kOff,    // every layer keeps what its backward needs
  kLayer,  // a layer keeps its input only and is computed again in backward
};

struct TrainOptions {
  Checkpointing checkpointing = Checkpointing::kOff;
  LossOptions loss;
  AdamWOptions adamw;
  const std::atomic<bool>* cancel = nullptr;  // read at every layer border, forward and backward
};

// The loss and nothing else: forward and backward, leaving `.grad` on every weight. token ids and targets: [B, T]
// int64. The loss is a scalar on the device, fp32; reading it is the caller's business.
at::Tensor forward_backward(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                            const TrainOptions& options);

// A whole step between mark_step(index) and mark_step(-1). `host_tokens_2BT` holds ids and targets on the host.
// Frees the gradients at its end. No value is read from the device and nothing branches on data.
at::Tensor train_step(Model& model, AdamW& optimizer, const at::Tensor& host_tokens_2BT, const TrainOptions& options,
                      int index);

// Marks that one whole step sets, mark_step included.
int marks_per_step(const Config& config, Checkpointing checkpointing);

}  // namespace headroom::llama
