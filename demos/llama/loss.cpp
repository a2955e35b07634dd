// Loss paths.
#include "demos/llama/loss.h"

#include <string>

#include <c10/util/Exception.h>

#include "demos/llama/labels.h"
#include "demos/llama/linear.h"
#include "kernels/cross_entropy/cross_entropy_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

// From logits by PyTorch's operators.
at::Tensor eager_cross_entropy(at::Tensor logits_NV, const at::Tensor& targets_N) {
  const Operators& op = operators();
  {
    const Scope scope(Category::kLogits, op.loss_cast);
    logits_NV = logits_NV.to(at::kFloat);
  }
  at::Tensor log_probabilities_NV;
  {
    const Scope scope(Category::kLogits, op.log_softmax);
    log_probabilities_NV = label_backward(at::log_softmax(logits_NV, -1), Category::kLogits, op.log_softmax);
  }
  const Scope scope(Category::kLogits, op.nll);
  return at::nll_loss(log_probabilities_NV, targets_N);
}

at::Tensor plain_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_N,
                      const LossOptions& options) {
  const Operators& op = operators();
  const at::Tensor logits_BTV = linear(x_BTH, model.lm_head_VH, Category::kLogits, op.lm_head);
  const at::Tensor logits_NV = logits_BTV.view({-1, model.lm_head_VH.size(0)});
  if (!model.fused.cross_entropy) return eager_cross_entropy(logits_NV, targets_N);
  const Scope scope(Category::kLogits, op.nll);
  return kernels::cross_entropy(
      logits_NV, targets_N, {.in_place = true, .valid_count = targets_N.numel(), .error_flag = options.error_flag});
}

at::Tensor flce_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_N,
                     const LossOptions& options) {
  const Operators& op = operators();
  const at::Tensor x_NH = x_BTH.view({-1, x_BTH.size(-1)});
  kernels::FlceOptions flce{.mode = options.mode,
                            .chunk = options.chunk,
                            .fp32_weight_gradient = options.fp32_weight_gradient,
                            .valid_count = targets_N.numel()};  // every byte of the text is a target
  {
    const Scope scope(Category::kGradients, op.lm_head);
    const at::ScalarType type = options.fp32_weight_gradient ? at::kFloat : model.lm_head_VH.scalar_type();
    flce.dweight = at::empty(model.lm_head_VH.sizes(), model.lm_head_VH.options().dtype(type).requires_grad(false));
  }
  flce.error_flag = options.error_flag;
  flce.dx_over_x = options.mode != kernels::FlceMode::kLean;  // nothing but the head reads the normed stream
  const Scope scope(Category::kLogits, op.lm_head);
  const at::Tensor loss = kernels::fused_linear_cross_entropy(x_NH, model.lm_head_VH, targets_N, flce);
  at::Tensor head = model.lm_head_VH;
  head.mutable_grad() = flce.dweight;
  return loss;
}

}  // namespace

at::Tensor lm_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_BT,
                   const LossOptions& options) {
  const at::Tensor targets_N = targets_BT.reshape({-1});
  if (options.path == LossPath::kPlain) return plain_loss(model, x_BTH, targets_N, options);
  return flce_loss(model, x_BTH, targets_N, options);
}

double read_loss(const at::Tensor& loss, const at::Tensor& error_flag, const at::Tensor& targets_BT,
                 std::int64_t vocab_size) {
  const auto value = loss.item<double>();
  if (!error_flag.defined()) return value;
  const std::string error = kernels::error_text(error_flag, targets_BT.reshape({-1}), vocab_size);
  TORCH_CHECK(error.empty(), "The loss of this step is not right: ", error, ".");
  return value;
}

}  // namespace headroom::llama
