// Kernel case of the fused linear cross entropy.
#include <cmath>

#include "kernels/cross_entropy/cross_entropy_case.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels {

namespace {

constexpr Shape kOddFusedLinearCrossEntropyShapes[] = {{1, 1, 2}, {5, 7, 203}, {37, 25, 203}, {64, 48, 520}};

std::int64_t bytes_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.nbytes()); }

KernelInputs fused_linear_cross_entropy_inputs(const Shape& shape, const TensorMaker& make) {
  const std::int64_t N = shape.rows, H = shape.width, V = shape.vocab;
  const at::Tensor x_NH = make.random({N, H});
  const at::Tensor weight_VH = make.random({V, H}, 1 / std::sqrt(static_cast<double>(H)));
  return {.inputs = {x_NH, weight_VH, make.ids(N, V)}};
}

KernelForms fused_linear_cross_entropy_forms(const Shape& shape, const KernelInputs& in) {
  const at::Tensor x_NH = in.inputs[0], weight_VH = in.inputs[1], targets_N = in.inputs[2];
  KernelForms all;
  all.of_memory = all.graphs = false;
  // The baseline: the three GEMMs of every form, with random dlogits.
  all.add("matmul", "full", [=, dz_NV = at::randn({shape.rows, shape.vocab}, x_NH.options())] {
    const at::Tensor logits = at::mm(x_NH, weight_VH.t());
    return Tensors{{}, at::mm(dz_NV, weight_VH), at::mm(dz_NV.t(), x_NH)};
  });
  const std::int64_t gradients = bytes_of(x_NH) + bytes_of(weight_VH);
  all.add(
      "eager", "full",
      [=, x = leaf(x_NH), w = leaf(weight_VH)] {
        const at::Tensor loss = eager_cross_entropy(at::mm(x, w.t()), targets_N);
        return with_gradients({loss}, {x, w}, {at::ones_like(loss)});
      },
      gradients);
  const auto add = [&](const char* variant, FlceMode mode, bool fp32_weight_gradient, std::int64_t not_counted) {
    const FlceOptions options{.mode = mode,
                              .fp32_weight_gradient = fp32_weight_gradient,
                              .valid_count = shape.rows,
                              .error_flag = no_error(x_NH.device())};
    const auto call = [=] {
      const FlceOut out = flce(x_NH, weight_VH, targets_N, options);
      return Tensors{out.loss, out.dx, out.dweight};
    };
    all.add(variant, "full", call, not_counted);
  };
  constexpr std::int64_t kFp32 = sizeof(float);
  add("fused", FlceMode::kChunked, false, gradients);
  if (x_NH.scalar_type() != at::kFloat)
    add("fused_fp32", FlceMode::kChunked, true, bytes_of(x_NH) + weight_VH.numel() * kFp32);
  add("fused_lean", FlceMode::kLean, false, x_NH.numel() * kFp32 + bytes_of(weight_VH));
  all.exact = [=](const std::string&) {
    const FlceReference exact = flce_reference(x_NH, weight_VH, targets_N);
    return Tensors{exact.loss, exact.dx, exact.dweight};
  };
  return all;
}

}  // namespace

extern const KernelCase kFusedLinearCrossEntropyCase;
constinit const KernelCase kFusedLinearCrossEntropyCase = {
    .id = "fused_linear_cross_entropy",
    .inputs = &fused_linear_cross_entropy_inputs,
    .forms = &fused_linear_cross_entropy_forms,
    .odd_shapes = kOddFusedLinearCrossEntropyShapes,
    .rounded_by_chance = true,  // rounded logits move the mean of a few tokens either way
};

}  // namespace headroom::kernels
