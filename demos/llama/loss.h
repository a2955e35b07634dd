// The output head and its loss, on the paths that a run can choose from.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/llama/model.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"

namespace headroom::llama {

enum class LossPath : std::uint8_t {
  kPlain,  // all logits at once
  kFlce,   // fused linear cross entropy: never more than a chunk of them
};

struct LossOptions {
  LossPath path = LossPath::kPlain;
  // Of kFlce:
  kernels::FlceMode mode = kernels::FlceMode::kChunked;
  std::int64_t chunk = 0;             // 0: the mode's own
  bool fp32_weight_gradient = false;  // else the head's gradient has the model's type
  // Where a kernel reports a target outside the vocabulary, int64 [1] on the model's device; see read_loss. Undefined: a
  // new one each time, which nobody reads. On the CPU such a target throws at once.
  at::Tensor error_flag;
};

// Mean negative log-likelihood of the targets, in nats, fp32. x [B, T, H] after the final norm.
//
// kPlain: logits [N, V] in the model's type, in fp32, and their fp32 log-softmax, which is kept; with
// Model::fused.cross_entropy the logits in the model's type only, which their gradient overwrites.
// kFlce: makes the gradients at once. x is overwritten, and the head's gradient lies in its `.grad` when this returns.
at::Tensor lm_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_BT,
                   const LossOptions& options);

// The number that lm_loss gave, and with it what the kernels reported in `error_flag` (may be undefined): throws
// c10::Error with a sentence that names the row and its target. Waits for the device; the targets may be on the host.
double read_loss(const at::Tensor& loss, const at::Tensor& error_flag, const at::Tensor& targets_BT,
                 std::int64_t vocab_size);

}  // namespace headroom::llama
