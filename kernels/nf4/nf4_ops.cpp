// NF4 on tensors.
#include "kernels/nf4/nf4_ops.h"

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kGrainBlocks = 256;  // 16,384 weights

Nf4Args args_of(const Nf4Matrix& matrix, std::int64_t n) {
  return {.codes = matrix.codes.mutable_data_ptr<std::uint8_t>(),
          .absmax_codes = matrix.absmax_codes.mutable_data_ptr<std::uint8_t>(),
          .absmax_scale = matrix.absmax_scale.mutable_data_ptr<float>(),
          .absmax_mean = matrix.absmax_mean.mutable_data_ptr<float>(),
          .n = n};
}

void check(const at::Tensor& tensor, at::ScalarType type, std::int64_t size, at::Device device, const char* what) {
  TORCH_CHECK(tensor.defined() && tensor.scalar_type() == type && tensor.dim() == 1 && tensor.size(0) == size &&
                  tensor.is_contiguous() && tensor.device() == device,
              "nf4_dequantise: ", what, " must be ", type, " [", size, "], contiguous, on the device of the others");
}

}  // namespace

Nf4Matrix nf4_quantise(const at::Tensor& weight) {
  const Storage storage = checked_storage(weight, "nf4_quantise", "the weight");
  const std::int64_t n = weight.numel(), blocks = nf4_blocks(n);
  TORCH_CHECK(n > 0, "nf4_quantise: the weight has no elements");
  const at::TensorOptions bytes = weight.options().dtype(at::kByte).requires_grad(false);
  const at::TensorOptions floats = bytes.dtype(at::kFloat);
  const Nf4Matrix matrix{.codes = at::empty({(n + 1) / 2}, bytes),
                         .absmax_codes = at::empty({blocks}, bytes),
                         .absmax_scale = at::empty({nf4_scales(n)}, floats),
                         .absmax_mean = at::empty({1}, floats),
                         .shape = weight.sizes().vec()};
  const at::Tensor absmax = at::empty({blocks}, floats);
  if (weight.is_meta()) return matrix;
  const Traced traced("nf4_quantise", {weight, matrix.codes, matrix.absmax_codes});
  const Nf4Args args = args_of(matrix, n);
  auto* const scratch = absmax.mutable_data_ptr<float>();
  run_kernel(
      weight.device(), "nf4_quantise", blocks, kGrainBlocks,
      [&](CUstream_st* stream) { return nf4_quantise_cuda(weight.const_data_ptr(), storage, args, scratch, stream); },
      [&](std::int64_t begin, std::int64_t end) {
        nf4_quantise_cpu(weight.const_data_ptr(), storage, args, scratch, begin, end);
      });
  if (weight.is_cpu()) nf4_quantise_absmax_cpu(args, scratch);
  return matrix;
}

at::Tensor nf4_dequantise(const Nf4Matrix& matrix, at::ScalarType type) {
  const auto storage = storage_of(type);
  TORCH_CHECK(storage, "nf4_dequantise: no kernel for weights of ", type);
  TORCH_CHECK(matrix.codes.defined(), "nf4_dequantise: the matrix has no codes");
  const std::int64_t n = c10::multiply_integers(matrix.shape);
  const at::Device device = matrix.codes.device();
  check(matrix.codes, at::kByte, (n + 1) / 2, device, "codes");
  check(matrix.absmax_codes, at::kByte, nf4_blocks(n), device, "absmax_codes");
  check(matrix.absmax_scale, at::kFloat, nf4_scales(n), device, "absmax_scale");
  check(matrix.absmax_mean, at::kFloat, 1, device, "absmax_mean");
  const at::Tensor weight = at::empty(matrix.shape, matrix.codes.options().dtype(type));
  if (device.is_meta()) return weight;
  const Traced traced("nf4_dequantise", {matrix.codes, matrix.absmax_codes, matrix.absmax_scale, weight});
  const Nf4Args args = args_of(matrix, n);
  void* const out = weight.mutable_data_ptr();
  run_kernel(
      device, "nf4_dequantise", nf4_blocks(n), kGrainBlocks,
      [&](CUstream_st* stream) { return nf4_dequantise_cuda(args, out, *storage, stream); },
      [&](std::int64_t begin, std::int64_t end) { nf4_dequantise_cpu(args, out, *storage, begin, end); });
  return weight;
}

}  // namespace headroom::kernels
