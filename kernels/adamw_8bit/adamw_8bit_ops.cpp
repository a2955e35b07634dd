// AdamW with 8-bit moments, and block-wise quantization, on tensors.
#include "kernels/adamw_8bit/adamw_8bit_ops.h"

#include <array>

#include "kernels/adamw/adamw_checks.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kAdamw8bitGrain = 32;  // blocks: 8192 elements

void check_state(const at::Tensor& codes, const at::Tensor& absmax, std::int64_t n, at::Device device,
                 const char* name) {
  TORCH_CHECK(codes.defined() && absmax.defined(), name, ": codes or absmax are undefined");
  TORCH_CHECK(codes.scalar_type() == at::kByte && codes.is_contiguous() && codes.dim() == 1 && codes.size(0) == n &&
                  codes.device() == device,
              name, ": codes must be uint8 [", n, "], contiguous, on the device of the others");
  TORCH_CHECK(absmax.scalar_type() == at::kFloat && absmax.is_contiguous() && absmax.dim() == 1 &&
                  absmax.size(0) == quantised_blocks(n) && absmax.device() == device,
              name, ": absmax must be fp32 [", quantised_blocks(n), "], contiguous, on the device of the others");
}

struct AdamW8bitKernel {
  static constexpr const char* kName = "adamw_8bit";
  static constexpr std::int64_t kGrain = kAdamw8bitGrain;
  static constexpr auto* kCpu = &adamw_8bit_cpu;
  static constexpr auto* kCuda = &adamw_8bit_cuda;

  static std::array<at::Tensor, 4> state(const AdamW8bitParameter& p) {
    return {p.m_codes, p.m_absmax, p.v_codes, p.v_absmax};
  }
  static std::int64_t units(std::int64_t n) { return quantised_blocks(n); }
  static void check_state(const AdamW8bitParameter& p, const AdamWTypes&) {
    kernels::check_state(p.m_codes, p.m_absmax, p.param.numel(), p.param.device(), kName);
    kernels::check_state(p.v_codes, p.v_absmax, p.param.numel(), p.param.device(), kName);
  }
  static AdamW8bitTensor raw(const AdamW8bitParameter& p) {
    return {.m_codes = p.m_codes.mutable_data_ptr<std::uint8_t>(),
            .m_absmax = p.m_absmax.mutable_data_ptr<float>(),
            .v_codes = p.v_codes.mutable_data_ptr<std::uint8_t>(),
            .v_absmax = p.v_absmax.mutable_data_ptr<float>()};
  }
};

}  // namespace

void adamw_8bit(std::span<const AdamW8bitParameter> parameters, const AdamWStep& step, const AdamWControl& control) {
  step_weights<AdamW8bitKernel>(parameters, step, control);
}

BlockQuantised quantise_blockwise(const at::Tensor& x, bool is_signed) {
  const Storage storage = checked_storage(x, "quantise_blockwise");
  const std::int64_t n = x.numel();
  const BlockQuantised out{.codes = at::empty({n}, x.options().dtype(at::kByte)),
                           .absmax = at::empty({quantised_blocks(n)}, x.options().dtype(at::kFloat))};
  if (x.is_meta() || n == 0) return out;
  const Traced traced("quantise_blockwise", {x, out.codes, out.absmax});
  const QuantisedArray array{.codes = out.codes.mutable_data_ptr<std::uint8_t>(),
                             .absmax = out.absmax.mutable_data_ptr<float>(),
                             .n = n,
                             .is_signed = is_signed};
  run_kernel(
      x.device(), "quantise_blockwise", quantised_blocks(n), kAdamw8bitGrain,
      [&](CUstream_st* stream) { return quantise_blockwise_cuda(x.const_data_ptr(), storage, array, stream); },
      [&](std::int64_t begin, std::int64_t end) {
        quantise_blockwise_cpu(x.const_data_ptr(), storage, array, begin, end);
      });
  return out;
}

at::Tensor dequantise_blockwise(const at::Tensor& codes, const at::Tensor& absmax, bool is_signed, std::int64_t n) {
  TORCH_CHECK(codes.defined(), "dequantise_blockwise: codes are undefined");
  check_state(codes, absmax, n, codes.device(), "dequantise_blockwise");
  const at::Tensor y = at::empty({n}, absmax.options());
  if (y.is_meta() || n == 0) return y;
  const Traced traced("dequantise_blockwise", {codes, absmax, y});
  const QuantisedArray array{.codes = codes.mutable_data_ptr<std::uint8_t>(),
                             .absmax = absmax.mutable_data_ptr<float>(),
                             .n = n,
                             .is_signed = is_signed};
  auto* const values = y.mutable_data_ptr<float>();
  run_kernel(
      y.device(), "dequantise_blockwise", quantised_blocks(n), kAdamw8bitGrain,
      [&](CUstream_st* stream) { return dequantise_blockwise_cuda(array, values, stream); },
      [&](std::int64_t begin, std::int64_t end) { dequantise_blockwise_cpu(array, values, begin, end); });
  return y;
}

}  // namespace headroom::kernels
