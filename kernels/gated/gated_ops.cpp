// SwiGLU and GeGLU on tensors.
#include "kernels/gated/gated_ops.h"

#include <torch/csrc/autograd/custom_function.h>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kGatedGrain = 16384;

Storage checked_storage(const GatedKernels& kernels, std::initializer_list<const at::Tensor*> tensors) {
  const at::Tensor& first = **tensors.begin();
  for (const at::Tensor* tensor : tensors) {
    TORCH_CHECK(tensor->defined(), kernels.name, ": a tensor is missing");
    TORCH_CHECK(tensor->sizes() == first.sizes() && tensor->device() == first.device() &&
                    tensor->scalar_type() == first.scalar_type(),
                kernels.name, ": gate, up and the gradient differ in shape, type or device");
    TORCH_CHECK(tensor->is_contiguous(), kernels.name, ": the tensors must be contiguous");
  }
  const auto storage = storage_of(first.scalar_type());
  TORCH_CHECK(storage.has_value(), kernels.name, ": the tensors must be fp32, bf16 or fp16, not ", first.scalar_type());
  return *storage;
}

template <typename Cpu, typename Cuda, typename Args>
void run(const GatedKernels& kernels, Cpu cpu, Cuda cuda, const Args& args, Storage storage, const at::Tensor& like) {
  if (like.is_meta()) return;
  const std::int64_t n = like.numel();
  run_kernel(
      like.device(), kernels.name, n, kGatedGrain, [&](CUstream_st* stream) { return cuda(args, storage, n, stream); },
      [&](std::int64_t begin, std::int64_t end) { cpu(args, storage, begin, end); });
}

struct GatedFunction : torch::autograd::Function<GatedFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate, const at::Tensor& up,
                            const GatedKernels* kernels) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({gate, up});
    ctx->saved_data["kernels"] = reinterpret_cast<std::int64_t>(kernels);
    return gated_forward(*kernels, gate, up);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const variable_list saved = ctx->get_saved_variables();
    const auto* kernels = reinterpret_cast<const GatedKernels*>(ctx->saved_data["kernels"].toInt());
    const GatedGradients result = gated_backward(*kernels, gradients[0].contiguous(), saved[0], saved[1],
                                                 /*rebuild_h=*/false, /*in_place=*/false);
    return {result.dgate, result.dup, at::Tensor()};
  }
};

}  // namespace

at::Tensor gated_forward(const GatedKernels& kernels, const at::Tensor& gate, const at::Tensor& up) {
  const Storage storage = checked_storage(kernels, {&gate, &up});
  at::Tensor h = at::empty_like(gate);
  const GatedForward args{.gate = gate.const_data_ptr(), .up = up.const_data_ptr(), .h = h.mutable_data_ptr()};
  const Traced traced(kernels.name, {gate, up, h});
  run(kernels, kernels.forward_cpu, kernels.forward_cuda, args, storage, gate);
  return h;
}

GatedGradients gated_backward(const GatedKernels& kernels, const at::Tensor& dh, const at::Tensor& gate,
                              const at::Tensor& up, bool rebuild_h, bool in_place) {
  const Storage storage = checked_storage(kernels, {&dh, &gate, &up});
  GatedGradients result{.dgate = in_place ? gate : at::empty_like(gate), .dup = in_place ? up : at::empty_like(up)};
  if (rebuild_h) result.h = in_place ? dh : at::empty_like(dh);
  const GatedBackward args{.dh = dh.const_data_ptr(),
                           .gate = gate.const_data_ptr(),
                           .up = up.const_data_ptr(),
                           .dgate = result.dgate.mutable_data_ptr(),
                           .dup = result.dup.mutable_data_ptr(),
                           .h = rebuild_h ? result.h.mutable_data_ptr() : nullptr};
  const Traced traced(kernels.name, {dh, gate, up, result.dgate, result.dup, result.h});
  run(kernels, kernels.backward_cpu, kernels.backward_cuda, args, storage, gate);
  return result;
}

at::Tensor gated(const GatedKernels& kernels, const at::Tensor& gate, const at::Tensor& up) {
  return GatedFunction::apply(gate, up, &kernels);
}

}  // namespace headroom::kernels
