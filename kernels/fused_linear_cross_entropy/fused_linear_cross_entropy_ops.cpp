// The fused linear cross entropy on tensors.
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"
#include "kernels/fused_linear_cross_entropy/cpu_products.h"
#include "kernels/fused_linear_cross_entropy/parts.h"

namespace headroom::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void check(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets, const FlceOptions& options) {
  TORCH_CHECK(x.dim() == 2 && x.is_contiguous() && weight.dim() == 2 && weight.is_contiguous(),
              "flce: x must be [N, H] and the weight [V, H], both contiguous");
  TORCH_CHECK(x.size(1) == weight.size(1), "flce: x has rows of ", x.size(1), ", the weight of ", weight.size(1));
  TORCH_CHECK(weight.numel() > 0, "flce: the weight is empty");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type() && storage_of(x.scalar_type()).has_value(),
              "flce: x and the weight must both be fp32, bf16 or fp16, not ", x.scalar_type(), " and ",
              weight.scalar_type());
  TORCH_CHECK(targets.dim() == 1 && targets.size(0) == x.size(0) && targets.scalar_type() == at::kLong &&
                  targets.is_contiguous(),
              "flce: the targets must be int64, contiguous, one per row of x");
  TORCH_CHECK(x.device() == weight.device() && x.device() == targets.device(),
              "flce: x, weight and targets are on different devices");
  TORCH_CHECK(options.reduction != Reduction::kNone, "flce: the reduction must be mean or sum");
  TORCH_CHECK(options.label_smoothing >= 0 && options.label_smoothing <= 1,
              "flce: label smoothing must be from 0 to 1, not ", options.label_smoothing);
  TORCH_CHECK(options.chunk >= 0, "flce: a chunk must be at least 1, or 0 for the default, not ", options.chunk);
  TORCH_CHECK(options.valid_count <= x.size(0), "flce: ", options.valid_count, " valid rows are more than x has");
  TORCH_CHECK(!options.grad_scale.defined() ||
                  (options.grad_scale.numel() == 1 && options.grad_scale.scalar_type() == at::kFloat &&
                   options.grad_scale.device() == x.device()),
              "flce: grad_scale must be one fp32 number on the device of x");
  TORCH_CHECK(options.weight_gradient || !options.dweight.defined(), "flce: a frozen weight cannot have a dweight");
  TORCH_CHECK(!options.loss_only || (!options.dweight.defined() && !options.dx_over_x),
              "flce: a pass for the loss alone has no gradient to write");
  TORCH_CHECK(options.dweight.defined() || !options.accumulate, "flce: accumulate needs a dweight to add to");
  TORCH_CHECK(!options.dx_over_x || options.mode != FlceMode::kLean,
              "flce: dx of the lean mode must be fp32 and "
              "cannot overwrite x");
  if (options.dweight.defined()) {
    const at::ScalarType type = options.fp32_weight_gradient ? at::kFloat : weight.scalar_type();
    TORCH_CHECK(options.dweight.sizes() == weight.sizes() && options.dweight.is_contiguous() &&
                    options.dweight.scalar_type() == type && options.dweight.device() == weight.device(),
                "flce: dweight must be contiguous, with the weight's shape and device, and ", type);
  }
}

FlceProblem problem_of(const at::Tensor& x, const at::Tensor& weight, const FlceOptions& options) {
  return {.mode = options.mode,
          .storage = *storage_of(x.scalar_type()),
          .fp32_weight_gradient = options.fp32_weight_gradient,
          .tokens = x.size(0),
          .hidden = x.size(1),
          .vocab = weight.size(0),
          .chunk = options.chunk,
          .valid_count = options.valid_count,
          .ignore_index = options.ignore_index,
          .label_smoothing = static_cast<float>(options.label_smoothing),
          .reduction = options.reduction,
          .weight_gradient = options.weight_gradient && !options.loss_only,
          .accumulate = options.accumulate,
          .loss_only = options.loss_only,
          .tf32 = options.products.tf32};
}

FlceTensors allocate(const FlceProblem& problem, const at::Tensor& x, const at::Tensor& weight,
                     const at::Tensor& targets, const FlceOptions& options) {
  const at::TensorOptions like = x.options().requires_grad(false);
  FlceTensors t{.x = x.detach(), .weight = weight.detach(), .targets = targets, .grad_scale = options.grad_scale};
  t.loss = at::empty({}, like.dtype(at::kFloat));
  t.error_flag = options.error_flag.defined() ? options.error_flag : at::zeros({1}, like.dtype(at::kLong));
  const bool lean = problem.mode == FlceMode::kLean;
  if (!problem.loss_only) t.dx = options.dx_over_x ? t.x : at::empty(x.sizes(), lean ? like.dtype(at::kFloat) : like);
  t.dweight = options.dweight;
  if (!t.dweight.defined() && problem.weight_gradient) {
    t.dweight = at::empty(weight.sizes(), problem.fp32_weight_gradient ? like.dtype(at::kFloat) : like);
  }
  const std::int64_t stride = flce_logits_stride(problem);
  t.logits = at::empty({flce_logits_bytes(problem) / (stride * bytes_of(problem.storage)), stride}, like);
  t.scratch = at::empty({flce_scratch_bytes(problem)}, like.dtype(at::kByte));
  return t;
}

void must_launch(int error) {
  TORCH_CHECK(error < kCublasError, "flce: cuBLASLt returned status ", error - kCublasError);
  TORCH_CHECK(error == 0, "flce: CUDA error ", error);
}

void run_cuda(const FlceProblem& problem, const FlceTensors& t) {
  const c10::cuda::CUDAGuard guard(t.x.device());
  at::cuda::getCurrentCUDABlasHandle();  // creates the stream's workspace
  const auto data = [](const at::Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; };
  must_launch(flce_cuda(problem,
                        {.x = t.x.data_ptr(),
                         .weight = t.weight.const_data_ptr(),
                         .targets = static_cast<const std::int64_t*>(t.targets.const_data_ptr()),
                         .grad_scale = static_cast<const float*>(data(t.grad_scale)),
                         .error_flag = static_cast<std::int64_t*>(data(t.error_flag)),
                         .loss = static_cast<float*>(data(t.loss)),
                         .dx = data(t.dx),
                         .dweight = data(t.dweight),
                         .logits = data(t.logits),
                         .scratch = data(t.scratch),
                         .workspace = at::cuda::getCUDABlasLtWorkspace(),
                         .workspace_bytes = static_cast<std::int64_t>(at::cuda::getCUDABlasLtWorkspaceSize())},
                        c10::cuda::getCurrentCUDAStream().stream()));
}

FlceTensors run(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets, const FlceOptions& options) {
  check(x, weight, targets, options);
  const FlceProblem problem = problem_of(x, weight, options);
  const FlceTensors tensors = allocate(problem, x, weight, targets, options);
  const Traced traced("fused_linear_cross_entropy", {x, weight, targets, tensors.dx, tensors.dweight});
  if (x.is_cuda()) {
    run_cuda(problem, tensors);
  } else if (x.is_cpu() || options.products.plans_cpu) {
    flce_cpu(problem, tensors);
  }
  return tensors;
}

// An accumulated gradient is right for one upstream gradient only.
void check_upstream(const at::Tensor& upstream, const at::Tensor& made_for, const at::Tensor& error_flag) {
  if (upstream.is_meta()) return;
  if (upstream.is_cuda()) {
    const c10::cuda::CUDAGuard guard(upstream.device());
    const auto* const made = made_for.defined() ? static_cast<const float*>(made_for.const_data_ptr()) : nullptr;
    must_launch(flce_check_upstream_cuda(static_cast<const float*>(upstream.const_data_ptr()), made,
                                         static_cast<std::int64_t*>(error_flag.mutable_data_ptr()),
                                         c10::cuda::getCurrentCUDAStream().stream()));
    return;
  }
  const float expected = made_for.defined() ? made_for.item<float>() : 1.0f;
  TORCH_CHECK(upstream.item<float>() == expected, "flce: the upstream gradient is ", upstream.item<float>(),
              ", but the accumulated weight gradient was made for ", expected);
}

struct FlceFunction : torch::autograd::Function<FlceFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& targets, const FlceOptions& options) {
    ctx->set_materialize_grads(false);
    FlceOut out = flce(x, weight, targets, options);
    if (out.dx.scalar_type() != x.scalar_type()) out.dx = out.dx.to(x.scalar_type());
    ctx->saved_data["dx"] = out.dx;
    if (options.dweight.defined()) {
      ctx->saved_data["error_flag"] = out.error_flag;
    } else if (options.weight_gradient) {
      ctx->saved_data["dweight"] = out.dweight;
    }
    if (options.grad_scale.defined()) ctx->saved_data["made_for"] = options.grad_scale;
    return out.loss;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
    const auto saved = [&](const char* name) {
      const auto found = ctx->saved_data.find(name);
      return found == ctx->saved_data.end() ? at::Tensor() : found->second.toTensor();
    };
    const at::Tensor dx = saved("dx"), dweight = saved("dweight"), made_for = saved("made_for");
    const at::Tensor error_flag = saved("error_flag");
    if (dweight.defined()) scale_gradient_(dweight, gradients[0], made_for);
    if (error_flag.defined()) check_upstream(gradients[0], made_for, error_flag);
    scale_gradient_(dx, gradients[0], made_for);
    ctx->saved_data["made_for"] = gradients[0];  // for a second backward pass
    return {dx, dweight, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

FlceOut flce(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
             const FlceOptions& options) {
  const FlceTensors t = run(x_NH, weight_VH, targets_N, options);
  return {.loss = t.loss, .dx = t.dx, .dweight = t.dweight, .error_flag = t.error_flag};
}

at::Tensor fused_linear_cross_entropy(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
                                      const FlceOptions& options) {
  return FlceFunction::apply(x_NH, weight_VH, targets_N, options);
}

FlceReference flce_reference(const at::Tensor& x_NH, const at::Tensor& weight_VH, const at::Tensor& targets_N,
                             const FlceOptions& options) {
  const at::Tensor x = x_NH.detach().to(at::kDouble), weight = weight_VH.detach().to(at::kDouble);
  const CrossEntropyReference loss = cross_entropy_reference(x.mm(weight.t()), targets_N,
                                                             {.ignore_index = options.ignore_index,
                                                              .reduction = options.reduction,
                                                              .label_smoothing = options.label_smoothing});
  at::Tensor dlogits = loss.dlogits;
  if (options.grad_scale.defined()) dlogits = dlogits * options.grad_scale.to(at::kDouble);
  return {.loss = loss.loss, .dx = dlogits.mm(weight), .dweight = dlogits.t().mm(x)};
}

}  // namespace headroom::kernels
