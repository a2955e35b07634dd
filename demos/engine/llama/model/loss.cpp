// Loss paths.
#include "demos/engine/llama/model/loss.h"

#include <string>

#include <c10/util/Exception.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/linear.h"
#include "kernels/cross_entropy/cross_entropy_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

constexpr std::int64_t kIgnored = -100;

at::Tensor to_fp32(const at::Tensor& logits) {
  const Scope scope(Category::kLogits, number_of(Op::kLossCast));
  return label_backward(logits.to(at::kFloat), Category::kLogits, number_of(Op::kLossCast));
}

at::Tensor eager_cross_entropy(const at::Tensor& logits_NV, const at::Tensor& targets_N) {
  at::Tensor log_probabilities_NV;
  {
    const Scope scope(Category::kLogits, number_of(Op::kLogSoftmax));
    log_probabilities_NV =
        label_backward(at::log_softmax(logits_NV, -1), Category::kLogits, number_of(Op::kLogSoftmax));
  }
  const Scope scope(Category::kLogits, number_of(Op::kNll));
  return at::nll_loss(log_probabilities_NV, targets_N, /*weight=*/{}, at::Reduction::Mean, kIgnored);
}

at::Tensor head(const Model& model, const at::Tensor& x_BTH, const at::Tensor& weight_VH) {
  return linear(x_BTH, {.weight_OI = weight_VH, .op = number_of(Op::kLmHead), .tf32 = model.tf32}, Category::kLogits);
}

at::Tensor plain_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_N,
                      const LossOptions& options, const at::Tensor& upstream) {
  const at::Tensor logits_NV = head(model, x_BTH, model.lm_head_VH).view({-1, model.lm_head_VH.size(0)});
  if (!model.fused.cross_entropy) return eager_cross_entropy(to_fp32(logits_NV), targets_N);
  const Scope scope(Category::kLogits, number_of(Op::kNll));
  const kernels::CrossEntropyOptions fused{
      .in_place = true, .valid_count = targets_N.numel(), .grad_scale = upstream, .error_flag = options.error_flag};
  if (!at::GradMode::is_enabled()) return kernels::cross_entropy_forward_only(logits_NV, targets_N, fused).loss;
  return kernels::cross_entropy(logits_NV, targets_N, fused);
}

kernels::FlceProducts products_of(const Model& model) {
  return {.tf32 = model.tf32, .plans_cpu = model.target == record::DeviceKind::kCpu};
}

at::Tensor flce_loss_only(const Model& model, const at::Tensor& x_NH, const at::Tensor& targets_N,
                          const LossOptions& options) {
  const Scope scope(Category::kLogits, number_of(Op::kLmHead));
  const kernels::FlceOptions flce{.mode = options.mode,
                                  .chunk = options.chunk,
                                  .fp32_weight_gradient = options.fp32_weight_gradient,  // affects the default chunk
                                  .valid_count = targets_N.numel(),
                                  .loss_only = true,
                                  .error_flag = options.error_flag,
                                  .products = products_of(model)};
  return kernels::flce(x_NH, model.lm_head_VH, targets_N, flce).loss;
}

at::Tensor flce_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_N,
                     const LossOptions& options, const at::Tensor& upstream) {
  const at::Tensor x_NH = x_BTH.view({-1, x_BTH.size(-1)});
  if (!at::GradMode::is_enabled()) return flce_loss_only(model, x_NH, targets_N, options);
  at::Tensor head = model.lm_head_VH;
  kernels::FlceOptions flce{.mode = options.mode,
                            .chunk = options.chunk,
                            .fp32_weight_gradient = options.fp32_weight_gradient,
                            .valid_count = targets_N.numel(),  // every token is a target
                            .grad_scale = upstream,
                            .dweight = head.grad(),
                            .accumulate = head.grad().defined()};
  flce.weight_gradient = head.requires_grad();
  flce.products = products_of(model);
  if (flce.weight_gradient && !flce.accumulate) {
    const Scope scope(Category::kGradients, number_of(Op::kLmHead));
    const at::ScalarType type = options.fp32_weight_gradient ? at::kFloat : head.scalar_type();
    flce.dweight = at::empty(head.sizes(), head.options().dtype(type).requires_grad(false));
  }
  flce.error_flag = options.error_flag;
  flce.dx_over_x = options.mode != kernels::FlceMode::kLean;  // only the head reads the normed stream
  const Scope scope(Category::kLogits, number_of(Op::kLmHead));
  const at::Tensor loss = kernels::fused_linear_cross_entropy(x_NH, head, targets_N, flce);
  if (flce.weight_gradient) head.mutable_grad() = flce.dweight;
  return loss;
}

// Like torch.nn.Linear, whose weight gets its gradient as a transposed view. Autograd never adds to a view in place
// (input_buffer.cpp, can_accumulate_inplace()), so a tied table needs two gradients and their sum.
at::Tensor hugging_face_head(const Model& model, const at::Tensor& x_BTH) {
  return head(model, x_BTH, model.lm_head_VH.t().t());
}

// transformers 4.46, LlamaForCausalLM.forward.
at::Tensor hf_2024_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_BT,
                        const LossOptions& options) {
  const std::int64_t known = targets_BT.size(1) - 1;
  at::Tensor logits_BTV = hugging_face_head(model, x_BTH);
  logits_BTV = to_fp32(logits_BTV);
  at::Tensor shifted_BTV, targets_N;
  {
    const Scope scope(Category::kLogits, number_of(Op::kLossShift));
    shifted_BTV =
        label_backward(logits_BTV.narrow(1, 0, known).contiguous(), Category::kLogits, number_of(Op::kLossShift));
    targets_N = targets_BT.narrow(1, 0, known).reshape({-1});
  }
  const at::Tensor loss = eager_cross_entropy(shifted_BTV.view({targets_N.size(0), -1}), targets_N);
  if (options.output != nullptr) *options.output = logits_BTV.detach();
  return loss;
}

// transformers 4.50, loss/loss_utils.py: ForCausalLMLoss.
at::Tensor hf_2025_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_BT,
                        const LossOptions& options) {
  const at::Tensor logits_BTV = hugging_face_head(model, x_BTH);
  const at::Tensor fp32_BTV = to_fp32(logits_BTV);
  at::Tensor targets_N;
  {
    const Scope scope(Category::kLogits, number_of(Op::kLossShift));
    const at::Tensor known = targets_BT.narrow(1, 0, targets_BT.size(1) - 1);
    targets_N = at::constant_pad_nd(known, {0, 1}, kIgnored).view({-1});
  }
  const at::Tensor loss = eager_cross_entropy(fp32_BTV.view({targets_N.size(0), -1}), targets_N);
  if (options.output != nullptr) *options.output = logits_BTV.detach();
  return loss;
}

}  // namespace

bool by_own_kernel(const LossOptions& options, const FusedKernels& fused) {
  return options.path == LossPath::kFlce || (options.path == LossPath::kPlain && fused.cross_entropy);
}

at::Tensor lm_loss(const Model& model, const at::Tensor& x_BTH, const at::Tensor& targets_BT,
                   const LossOptions& options, const at::Tensor& upstream) {
  switch (options.path) {
    case LossPath::kPlain:
      return plain_loss(model, x_BTH, targets_BT.reshape({-1}), options, upstream);
    case LossPath::kFlce:
      return flce_loss(model, x_BTH, targets_BT.reshape({-1}), options, upstream);
    case LossPath::kHf2024:
      return hf_2024_loss(model, x_BTH, targets_BT, options);
    case LossPath::kHf2025:
      return hf_2025_loss(model, x_BTH, targets_BT, options);
  }
  TORCH_CHECK(false, "loss path ", static_cast<int>(options.path));
}

double read_loss(const at::Tensor& loss, const at::Tensor& error_flag, const at::Tensor& targets_BT,
                 std::int64_t vocab_size) {
  const auto value = loss.item<double>();
  if (!error_flag.defined()) return value;
  const std::string error = kernels::error_text(error_flag, targets_BT.reshape({-1}), vocab_size);
  TORCH_CHECK(error.empty(), "The loss of this step is wrong: ", error, ".");
  return value;
}

}  // namespace headroom::llama
