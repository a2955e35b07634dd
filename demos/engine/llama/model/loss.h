// The output head and its loss, by the path that a run chooses.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/model.h"
#include "demos/predict/techniques.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"

namespace headroom::llama {

using predict::LossPath;

struct LossOptions {
  LossPath path = LossPath::kPlain;
  // With kHf2024 and kHf2025, receives the logits. The previous output is freed once the loss is computed, as in a loop
  // with `output = model(batch)`. If null, the logits are freed. Not owned.
  at::Tensor* output = nullptr;
  // Only for kFlce:
  kernels::FlceMode mode = kernels::FlceMode::kChunked;
  std::int64_t chunk = 0;             // 0: the mode's default
  bool fp32_weight_gradient = false;  // else the model's type
  // int64 [1] on the model's device, set if a target is outside the vocabulary; see read_loss. Undefined: never read.
  // On the CPU such a target throws at once.
  at::Tensor error_flag;
};

// True if our kernel computes this loss and can set error_flag.
bool by_own_kernel(const LossOptions& options, const FusedKernels& fused);

// Mean negative log-likelihood of the targets, in nats, fp32. x [B, T, H] after the final norm. `upstream` (fp32 [];
// undefined: 1) is the gradient that backward begins with, and multiplies gradients computed here. While autograd is
// off, no gradients are computed.
//
// kPlain: allocates logits [N, V] in the model's type and in fp32, and their fp32 log-softmax, which is kept. With
// Model::fused.cross_entropy it allocates only the logits in the model's type, which their gradient overwrites.
// kFlce: computes the gradients already in forward. Overwrites x, and adds to the `.grad` of the head's weight.
// kHf2024: fp32 logits replace those in the model's type as the output. A contiguous copy drops each sample's last
// position; the copy's log-softmax is kept. Forward holds 12·V bytes per token, and 4·V more while the previous output
// exists.
// kHf2025: logits in the model's type are the output; the loss converts them to fp32, shifts the targets and ignores
// the last position. Both kHf paths omit each sample's last target, which is not among its T ids.
at::Tensor lm_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_BT,
                   const LossOptions& options, const at::Tensor& upstream = {});

// Reads the loss. Throws c10::Error naming the row and its target if `error_flag` (may be undefined) is set. Waits for
// the device; targets may be on the host.
double read_loss(const at::Tensor& loss, const at::Tensor& error_flag, const at::Tensor& targets_BT,
                 std::int64_t vocab_size);

}  // namespace headroom::llama
