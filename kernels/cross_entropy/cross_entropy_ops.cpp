// Cross entropy on tensors.
#include "kernels/cross_entropy/cross_entropy_ops.h"

#include <algorithm>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kCrossEntropyGrain = 32768;

Storage checked_storage(const at::Tensor& logits, const at::Tensor& targets, const CrossEntropyOptions& options) {
  TORCH_CHECK(logits.dim() == 2 && logits.is_contiguous(), "cross_entropy: the logits must be [N, V] and contiguous");
  TORCH_CHECK(logits.size(1) > 0, "cross_entropy: the vocabulary is empty");
  TORCH_CHECK(targets.dim() == 1 && targets.size(0) == logits.size(0) && targets.scalar_type() == at::kLong &&
                  targets.is_contiguous(),
              "cross_entropy: the targets must be int64, contiguous, one per row of the logits");
  TORCH_CHECK(targets.device() == logits.device(), "cross_entropy: logits and targets are on different devices");
  TORCH_CHECK(options.label_smoothing >= 0 && options.label_smoothing <= 1,
              "cross_entropy: label smoothing must be from 0 to 1, not ", options.label_smoothing);
  TORCH_CHECK(options.valid_count <= logits.size(0), "cross_entropy: ", options.valid_count,
              " valid rows are more than the logits have");
  TORCH_CHECK(!options.grad_scale.defined() ||
                  (options.reduction != Reduction::kNone && options.grad_scale.numel() == 1 &&
                   options.grad_scale.scalar_type() == at::kFloat && options.grad_scale.device() == logits.device()),
              "cross_entropy: grad_scale must be one fp32 number on the device of the logits, for mean and sum");
  const auto storage = storage_of(logits.scalar_type());
  TORCH_CHECK(storage.has_value(), "cross_entropy: the logits must be fp32, bf16 or fp16, not ", logits.scalar_type());
  return *storage;
}

void must(int error) { TORCH_CHECK(error == 0, "cross_entropy: the launch failed with CUDA error ", error); }

// Everything that a call allocates.
struct Tensors {
  at::Tensor row_loss;  // fp32 [N]
  at::Tensor total;     // fp32 [], not for kNone
  at::Tensor scale;     // fp32 [2]: factors of the gradient and the loss; not for kNone
  at::Tensor dlogits;
  at::Tensor error_flag;
};

Tensors allocate(const at::Tensor& logits, const CrossEntropyOptions& options, bool with_gradient) {
  const at::TensorOptions fp32 = logits.options().dtype(at::kFloat).requires_grad(false);
  Tensors tensors{.row_loss = at::empty({logits.size(0)}, fp32)};
  if (options.reduction != Reduction::kNone) {
    tensors.total = at::empty({}, fp32);
    tensors.scale = at::empty({2}, fp32);
  }
  if (with_gradient) tensors.dlogits = options.in_place ? logits.detach() : at::empty_like(logits.detach());
  tensors.error_flag =
      options.error_flag.defined() ? options.error_flag : at::zeros({1}, logits.options().dtype(at::kLong));
  return tensors;
}

void run_cuda(const CrossEntropyArgs& args, const CrossEntropyOptions& options, const Tensors& tensors,
              c10::Device device) {
  const c10::cuda::CUDAGuard guard(device);
  CUstream_st* const stream = c10::cuda::getCurrentCUDAStream().stream();
  if (options.reduction == Reduction::kNone) return must(cross_entropy_cuda(args, stream));
  auto* const scale = static_cast<float*>(tensors.scale.mutable_data_ptr());
  const auto* const grad_scale =
      options.grad_scale.defined() ? static_cast<const float*>(options.grad_scale.const_data_ptr()) : nullptr;
  must(cross_entropy_scale_cuda(args.targets, args.rows, args.ignore_index, options.valid_count, options.reduction,
                                grad_scale, scale, stream));
  must(cross_entropy_cuda(args, stream));
  must(cross_entropy_total_cuda(args.loss, args.rows, scale + 1, static_cast<float*>(tensors.total.mutable_data_ptr()),
                                stream));
}

void run_cpu(const CrossEntropyArgs& args, const CrossEntropyOptions& options, const Tensors& tensors,
             const at::Tensor& targets) {
  float part = 1;
  if (options.reduction != Reduction::kNone) {
    auto* const scale = static_cast<float*>(tensors.scale.mutable_data_ptr());
    const std::int64_t valid = options.valid_count >= 0
                                   ? options.valid_count
                                   : args.rows - std::count(args.targets, args.targets + args.rows, args.ignore_index);
    const bool sums = options.reduction == Reduction::kSum;
    part = sums ? 1.0f : valid == 0 ? 0.0f : 1.0f / static_cast<float>(valid);
    scale[0] = options.grad_scale.defined() ? part * options.grad_scale.item<float>() : part;
    scale[1] = part;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kCrossEntropyGrain / args.vocab);
  at::parallel_for(0, args.rows, grain,
                   [&](std::int64_t begin, std::int64_t end) { cross_entropy_cpu(args, begin, end); });
  const std::string error = error_text(tensors.error_flag, targets, args.vocab);
  TORCH_CHECK(error.empty(), "cross_entropy: ", error);
  if (options.reduction == Reduction::kNone) return;
  double sum = 0;
  for (std::int64_t row = 0; row < args.rows; ++row) sum += args.loss[row];
  *static_cast<float*>(tensors.total.mutable_data_ptr()) = static_cast<float>(sum * part);
}

CrossEntropyOut run(const at::Tensor& logits, const at::Tensor& targets, const CrossEntropyOptions& options,
                    bool with_gradient) {
  const Storage storage = checked_storage(logits, targets, options);
  const Tensors tensors = allocate(logits, options, with_gradient);
  const bool reduced = options.reduction != Reduction::kNone;
  const CrossEntropyOut out{
      .loss = reduced ? tensors.total : tensors.row_loss, .dlogits = tensors.dlogits, .error_flag = tensors.error_flag};
  if (logits.is_meta()) return out;
  const CrossEntropyArgs args{.storage = storage,
                              .logits = logits.data_ptr(),
                              .dlogits = with_gradient ? tensors.dlogits.mutable_data_ptr() : nullptr,
                              .targets = static_cast<const std::int64_t*>(targets.const_data_ptr()),
                              .loss = static_cast<float*>(tensors.row_loss.mutable_data_ptr()),
                              .error_flag = static_cast<std::int64_t*>(tensors.error_flag.mutable_data_ptr()),
                              .scale = reduced ? static_cast<const float*>(tensors.scale.const_data_ptr()) : nullptr,
                              .rows = logits.size(0),
                              .vocab = logits.size(1),
                              .stride = logits.size(1),
                              .ignore_index = options.ignore_index,
                              .label_smoothing = static_cast<float>(options.label_smoothing)};
  const Traced traced("cross_entropy", {logits, targets, tensors.row_loss, out.dlogits});
  if (logits.is_cuda()) {
    run_cuda(args, options, tensors, logits.device());
  } else {
    run_cpu(args, options, tensors, targets);
  }
  return out;
}

struct CrossEntropyFunction : torch::autograd::Function<CrossEntropyFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& targets,
                            const CrossEntropyOptions& options) {
    ctx->set_materialize_grads(false);
    const CrossEntropyOut out = cross_entropy_forward(logits, targets, options);
    ctx->saved_data["dlogits"] = out.dlogits;
    if (options.grad_scale.defined()) ctx->saved_data["made_for"] = options.grad_scale;
    return out.loss;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const at::Tensor dlogits = ctx->saved_data["dlogits"].toTensor();
    const auto before = ctx->saved_data.find("made_for");
    scale_gradient_(dlogits, gradients[0], before == ctx->saved_data.end() ? at::Tensor() : before->second.toTensor());
    ctx->saved_data["made_for"] = gradients[0];  // for a second backward pass
    return {dlogits, at::Tensor(), at::Tensor()};
  }
};

template <typename T>
void scale_rows_cpu(const at::Tensor& gradient, const float* upstream, bool per_row, const float* made_for,
                    bool made_per_row) {
  T* const data = static_cast<T*>(gradient.mutable_data_ptr());
  const std::int64_t width = gradient.size(1);
  at::parallel_for(0, gradient.size(0), std::max<std::int64_t>(1, kCrossEntropyGrain / width),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       const float made = made_for == nullptr ? 1.0f : made_for[made_per_row ? row : 0];
                       const float factor = upstream[per_row ? row : 0] / made;
                       if (factor == 1) continue;
                       for (std::int64_t j = row * width; j < (row + 1) * width; ++j) {
                         data[j] = static_cast<T>(static_cast<float>(data[j]) * factor);
                       }
                     }
                   });
}

}  // namespace

CrossEntropyOut cross_entropy_forward(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                      const CrossEntropyOptions& options) {
  return run(logits_NV, targets_N, options, /*with_gradient=*/true);
}

CrossEntropyOut cross_entropy_forward_only(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                           const CrossEntropyOptions& options) {
  return run(logits_NV, targets_N, options, /*with_gradient=*/false);
}

at::Tensor cross_entropy(const at::Tensor& logits_NV, const at::Tensor& targets_N, const CrossEntropyOptions& options) {
  return CrossEntropyFunction::apply(logits_NV, targets_N, options);
}

std::string error_text(const at::Tensor& error_flag, const at::Tensor& targets_N, std::int64_t vocab) {
  const std::int64_t flag = error_flag.item<std::int64_t>();
  if (flag == 0) return {};
  if (flag == kFlagWrongCount) return "the number of valid labels differs from the count that was passed";
  if (flag == kFlagUpstream) {
    return "the upstream gradient differs from that of the accumulated weight gradient";
  }
  const std::int64_t row = flag - 1;
  const bool known = row < targets_N.numel();  // the flag may come from an earlier batch
  return "target " + (known ? std::to_string(targets_N[row].item<std::int64_t>()) : std::string("?")) + " in row " +
         std::to_string(row) + " is outside the vocabulary of " + std::to_string(vocab);
}

void scale_gradient_(const at::Tensor& gradient, const at::Tensor& upstream, const at::Tensor& made_for) {
  const auto storage = storage_of(gradient.scalar_type());
  TORCH_CHECK(storage.has_value() && gradient.dim() == 2 && gradient.is_contiguous(),
              "scale_gradient_: the gradient must be a contiguous matrix of fp32, bf16 or fp16");
  for (const at::Tensor* factor : {&upstream, &made_for}) {
    if (!factor->defined()) continue;
    TORCH_CHECK(factor->scalar_type() == at::kFloat && factor->device() == gradient.device() &&
                    (factor->numel() == 1 || factor->numel() == gradient.size(0)),
                "scale_gradient_: upstream gradients must be fp32, on the gradient's device, one or one per row");
  }
  if (gradient.is_meta() || gradient.numel() == 0) return;
  const at::Tensor factors = upstream.contiguous(), made = made_for.defined() ? made_for.contiguous() : at::Tensor();
  const auto* const up = static_cast<const float*>(factors.const_data_ptr());
  const auto* const before = made.defined() ? static_cast<const float*>(made.const_data_ptr()) : nullptr;
  const bool per_row = factors.numel() > 1, made_per_row = made.defined() && made.numel() > 1;
  if (gradient.is_cuda()) {
    const c10::cuda::CUDAGuard guard(gradient.device());
    must(scale_gradient_cuda({.storage = *storage,
                              .gradient = gradient.mutable_data_ptr(),
                              .rows = gradient.size(0),
                              .width = gradient.size(1),
                              .upstream = up,
                              .upstream_per_row = per_row,
                              .made_for = before,
                              .made_for_per_row = made_per_row},
                             c10::cuda::getCurrentCUDAStream().stream()));
  } else if (gradient.scalar_type() == at::kFloat) {
    scale_rows_cpu<float>(gradient, up, per_row, before, made_per_row);
  } else if (gradient.scalar_type() == at::kBFloat16) {
    scale_rows_cpu<at::BFloat16>(gradient, up, per_row, before, made_per_row);
  } else {
    scale_rows_cpu<at::Half>(gradient, up, per_row, before, made_per_row);
  }
}

CrossEntropyReference cross_entropy_reference(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                              const CrossEntropyOptions& options) {
  const at::Tensor z = logits_NV.detach().to(at::kDouble);
  const at::Tensor valid_N1 = targets_N.ne(options.ignore_index).unsqueeze(1);
  const at::Tensor targets_N1 = at::where(valid_N1, targets_N.unsqueeze(1), at::zeros_like(targets_N).unsqueeze(1));
  const double smoothing = options.label_smoothing, vocab = static_cast<double>(z.size(1));
  const at::Tensor log_p = at::log_softmax(z, -1);
  at::Tensor loss = -(1 - smoothing) * log_p.gather(1, targets_N1);
  if (smoothing != 0) loss = loss - smoothing * log_p.mean(-1, /*keepdim=*/true);
  const at::Tensor share = at::full_like(z, smoothing / vocab)
                               .scatter_add(1, targets_N1, at::full(targets_N1.sizes(), 1 - smoothing, z.options()));
  at::Tensor dlogits = log_p.exp() - share;
  loss = at::where(valid_N1, loss, at::zeros_like(loss)).squeeze(1);
  dlogits = at::where(valid_N1, dlogits, at::zeros_like(dlogits));
  if (options.reduction == Reduction::kNone) return {.loss = loss, .dlogits = dlogits};
  const at::Tensor divisor =
      options.reduction == Reduction::kMean ? valid_N1.sum().to(at::kDouble).clamp_min(1) : at::ones({}, z.options());
  return {.loss = loss.sum() / divisor, .dlogits = dlogits / divisor};
}

}  // namespace headroom::kernels
