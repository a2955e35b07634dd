// The output head and its loss, on the paths that a run can choose from.
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
  // Of kHf2024 and kHf2025: where the model's output, the logits, goes. The previous output is released when the loss has been
  // computed, as by a loop that says `output = model(batch)`. Null: the loop takes the loss and releases the logits. Not
  // owned.
  at::Tensor* output = nullptr;
  // Of kFlce:
  kernels::FlceMode mode = kernels::FlceMode::kChunked;
  std::int64_t chunk = 0;             // 0: the mode's own
  bool fp32_weight_gradient = false;  // else the head's gradient has the model's type
  // Where a kernel reports a target outside the vocabulary, int64 [1] on the model's device; see read_loss. Undefined: a
  // new one each time, never read. On the CPU such a target throws at once.
  at::Tensor error_flag;
};

// Whether a kernel of ours computes this loss; then it can report a target through error_flag.
bool by_own_kernel(const LossOptions& options, const FusedKernels& fused);

// Mean negative log-likelihood of the targets, in nats, fp32. x [B, T, H] after the final norm. `upstream` (fp32 [];
// undefined: 1) is what backward will begin with: gradients that are made here are made for it. While autograd is off
// none is made.
//
// kPlain: logits [N, V] in the model's type, in fp32, and their fp32 log-softmax, which is kept; with
// Model::fused.cross_entropy the logits in the model's type only, which their gradient overwrites.
// kFlce: makes the gradients at once. x is overwritten, and the head's gradient is in its `.grad` when this returns:
// added to what was there.
// kHf2024: the logits in fp32 take the place of those in the model's type and are the output; a contiguous copy without
// each sample's last position; its log-softmax, which is kept. Forward holds 12·V bytes per token, and 4·V more while the
// step before's output is still there.
// kHf2025: the logits in the model's type are the output; in fp32 inside the loss, where the targets are shifted and the
// last position ignored. Both leave out each sample's last target, which a model given T ids does not know.
at::Tensor lm_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_BT,
                   const LossOptions& options, const at::Tensor& upstream = {});

// The number that lm_loss gave, and with it what the kernels reported in `error_flag` (may be undefined): throws
// c10::Error with a sentence that names the row and its target. Waits for the device; the targets may be on the host.
double read_loss(const at::Tensor& loss, const at::Tensor& error_flag, const at::Tensor& targets_BT,
                 std::int64_t vocab_size);

}  // namespace headroom::llama
