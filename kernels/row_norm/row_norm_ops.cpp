// The row norms on tensors.
#include "kernels/row_norm/row_norm_ops.h"

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels::row_norm {

namespace {

constexpr std::int64_t kRowNormGrain = 32768;

void backward_on_cpu(const NormBackward& norm, BackwardCpu cpu) {
  const std::int64_t parts = cpu_parts(norm.rows);
  const std::int64_t part_elements = norm.rows * norm.width / parts + 1;
  at::parallel_for(0, parts, kRowNormGrain / part_elements + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) cpu(norm, part, parts);
  });
  at::parallel_for(0, norm.width, kRowNormGrain / parts + 1,
                   [&](std::int64_t begin, std::int64_t end) { column_sums_cpu(norm, parts, begin, end); });
}

const void* bytes(const at::Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr() : nullptr; }
void* own_bytes(const at::Tensor& tensor) { return tensor.defined() ? tensor.mutable_data_ptr() : nullptr; }

}  // namespace

void check_input(const char* name, const at::Tensor& x, const at::Tensor& weight_H) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(type == at::kFloat || type == at::kBFloat16 || type == at::kHalf, name,
              ": the storage must be fp32, bf16 or fp16, not ", type);
  TORCH_CHECK(x.is_cpu() || x.is_cuda() || x.is_meta(), name, ": no kernel for device ", x.device());
  TORCH_CHECK(x.dim() >= 1 && x.size(-1) > 0, name, ": x needs a last dimension to normalize");
  TORCH_CHECK(x.is_contiguous(), name, ": x must be contiguous");
  TORCH_CHECK(weight_H.dim() == 1 && weight_H.size(0) == x.size(-1) && weight_H.is_contiguous() &&
                  weight_H.scalar_type() == type && weight_H.device() == x.device(),
              name, ": the weight must be [", x.size(-1), "], contiguous, and of x's type and device");
}

void check_like(const char* name, const char* what, const at::Tensor& other, const at::Tensor& x) {
  TORCH_CHECK(other.sizes() == x.sizes() && other.is_contiguous() && other.scalar_type() == x.scalar_type() &&
                  other.device() == x.device(),
              name, ": ", what, " must be contiguous, and of x's shape, type and device");
}

void check_statistic(const char* name, const char* what, const at::Tensor& statistic, const at::Tensor& x) {
  TORCH_CHECK(statistic.numel() == rows_of(x) && statistic.is_contiguous() && statistic.scalar_type() == at::kFloat &&
                  statistic.device() == x.device(),
              name, ": ", what, " must be [", rows_of(x), "] fp32 on x's device, as returned by forward");
}

std::int64_t rows_of(const at::Tensor& x) { return x.numel() / x.size(-1); }

at::Tensor new_statistic(const at::Tensor& x) { return at::empty({rows_of(x)}, x.options().dtype(at::kFloat)); }

NormForward forward_arguments(const at::Tensor& x, const at::Tensor& weight_H, double epsilon) {
  NormForward norm{};
  norm.storage = *storage_of(x.scalar_type());
  norm.rows = rows_of(x);
  norm.width = x.size(-1);
  norm.epsilon = static_cast<float>(epsilon);
  norm.x = x.const_data_ptr();
  norm.weight = weight_H.const_data_ptr();
  return norm;
}

void run_forward(const char* name, const at::Tensor& x, const NormForward& norm, ForwardCuda cuda, ForwardCpu cpu) {
  if (x.is_meta() || norm.rows == 0) return;
  run_kernel(
      x.device(), name, norm.rows, kRowNormGrain / norm.width + 1,
      [&](CUstream_st* stream) { return cuda(norm, stream); },
      [&](std::int64_t begin, std::int64_t end) { cpu(norm, begin, end); });
}

NormGradients run_backward(const char* name, const BackwardInputs& inputs, BackwardCuda cuda, BackwardCpu cpu) {
  const at::Tensor& x = inputs.x;
  check_input(name, x, inputs.weight_H);
  check_like(name, "dy", inputs.dy, x);
  check_statistic(name, "rstd", inputs.rstd, x);
  if (inputs.mean.defined()) check_statistic(name, "the mean", inputs.mean, x);
  if (inputs.d_sum.defined()) check_like(name, "d_sum", inputs.d_sum, x);

  const std::int64_t rows = rows_of(x), width = x.size(-1);
  NormGradients gradients;
  gradients.dx = inputs.overwrite_dy ? inputs.dy : at::empty_like(x);
  gradients.dweight = at::empty_like(inputs.weight_H);
  if (inputs.has_bias) gradients.dbias = at::empty_like(inputs.weight_H);
  const at::Tensor partials =
      at::empty({inputs.has_bias ? 2 : 1, partial_rows(rows), width}, x.options().dtype(at::kFloat));
  if (x.is_meta()) return gradients;
  if (rows == 0) {
    gradients.dweight.zero_();
    if (inputs.has_bias) gradients.dbias.zero_();
    return gradients;
  }
  const NormBackward norm{
      .storage = *storage_of(x.scalar_type()),
      .rows = rows,
      .width = width,
      .dy = bytes(inputs.dy),
      .x = bytes(x),
      .weight = bytes(inputs.weight_H),
      .d_sum = bytes(inputs.d_sum),
      .mean = pointer<float>(inputs.mean),
      .rstd = pointer<float>(inputs.rstd),
      .dx = own_bytes(gradients.dx),
      .dweight = own_bytes(gradients.dweight),
      .dbias = own_bytes(gradients.dbias),
      .dweight_partials = pointer<float>(partials),
      .dbias_partials = inputs.has_bias ? pointer<float>(partials[1]) : nullptr,
  };
  const Traced traced(name, {inputs.dy, x, inputs.weight_H, inputs.mean, inputs.rstd, inputs.d_sum, gradients.dx,
                             gradients.dweight, gradients.dbias});
  if (x.is_cuda())
    launch_on(x.device(), name, [&](CUstream_st* stream) { return cuda(norm, stream); });
  else
    backward_on_cpu(norm, cpu);
  return gradients;
}

}  // namespace headroom::kernels::row_norm
