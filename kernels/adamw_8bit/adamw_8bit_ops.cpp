// AdamW with 8-bit moments, and block-wise quantization, on tensors.
#include "kernels/adamw_8bit/adamw_8bit_ops.h"

#include <algorithm>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/adamw/adamw_checks.h"
#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kAdamw8bitGrain = 32;  // 8192 elements

// Tensors of the same types share a launch.
struct Group8bit {
  AdamWTypes types;
  std::vector<AdamW8bitTensor> tensors;
};

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

void run_8bit_on_cpu(const Group8bit& group, const AdamWStep& step, const AdamWSwitches& switches) {
  std::vector<std::int64_t> first{0};  // offset of each tensor in blocks, as if all were one
  for (const AdamW8bitTensor& tensor : group.tensors) first.push_back(first.back() + quantised_blocks(tensor.n));
  at::parallel_for(0, first.back(), kAdamw8bitGrain, [&](std::int64_t begin, std::int64_t end) {
    auto which = static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), begin) - first.begin()) - 1;
    for (; begin < end; ++which) {
      const std::int64_t until = std::min(end, first[which + 1]);
      adamw_8bit_cpu(group.tensors[which], group.types, begin - first[which], until - first[which], step, switches);
      begin = until;
    }
  });
}

void run_8bit_on_cuda(const Group8bit& group, at::Device device, const AdamWStep& step, const AdamWSwitches& switches) {
  const c10::cuda::CUDAGuard guard(device);
  const int error =
      adamw_8bit_cuda(group.tensors, group.types, step, switches, c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CHECK(error == 0, "adamw_8bit: the launch failed with CUDA error ", error);
}

}  // namespace

void adamw_8bit(std::span<const AdamW8bitParameter> parameters, const AdamWStep& step, const AdamWControl& control) {
  if (parameters.empty()) return;
  TORCH_CHECK(parameters.front().param.defined(), "adamw_8bit: a parameter is undefined");
  const at::Device device = parameters.front().param.device();
  const AdamWSwitches switches = checked_switches(control, device, "adamw_8bit");
  std::vector<Group8bit> groups;
  std::int64_t place = 0;
  for (const AdamW8bitParameter& p : parameters) {
    const AdamWTypes types = checked_weight(p.param, p.gradient, p.working, control, "adamw_8bit");
    TORCH_CHECK(p.param.device() == device, "adamw_8bit: parameters are on several devices");
    check_state(p.m_codes, p.m_absmax, p.param.numel(), device, "adamw_8bit");
    check_state(p.v_codes, p.v_absmax, p.param.numel(), device, "adamw_8bit");
    const std::int64_t number = p.number < 0 ? place : p.number;
    ++place;
    if (device.is_meta()) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group8bit& g) { return g.types == types; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group8bit{.types = types, .tensors = {}});
    group->tensors.push_back({.param = p.param.mutable_data_ptr(),
                              .gradient = p.gradient.const_data_ptr(),
                              .m_codes = p.m_codes.mutable_data_ptr<std::uint8_t>(),
                              .m_absmax = p.m_absmax.mutable_data_ptr<float>(),
                              .v_codes = p.v_codes.mutable_data_ptr<std::uint8_t>(),
                              .v_absmax = p.v_absmax.mutable_data_ptr<float>(),
                              .n = p.param.numel(),
                              .decays = p.decays,
                              .working = p.working.defined() ? p.working.mutable_data_ptr() : nullptr,
                              .number = number});
  }
  if (groups.empty()) return;
  const Traced traced("adamw_8bit", [&](const auto& touch) {
    for (const AdamW8bitParameter& p : parameters) {
      touch(p.gradient);
      for (const at::Tensor* changed : {&p.param, &p.m_codes, &p.m_absmax, &p.v_codes, &p.v_absmax}) {
        touch(*changed);  // read
        touch(*changed);  // written
      }
      if (p.working.defined()) touch(p.working);
    }
  });
  for (const Group8bit& group : groups) {
    if (device.is_cuda()) {
      run_8bit_on_cuda(group, device, step, switches);
    } else {
      run_8bit_on_cpu(group, step, switches);
    }
  }
}

BlockQuantised quantise_blockwise(const at::Tensor& x, bool is_signed) {
  const auto storage = x.defined() ? storage_of(x.scalar_type()) : std::nullopt;
  TORCH_CHECK(storage && x.is_contiguous(), "quantise_blockwise: x must be contiguous fp32, bf16 or fp16");
  const std::int64_t n = x.numel();
  const BlockQuantised out{.codes = at::empty({n}, x.options().dtype(at::kByte)),
                           .absmax = at::empty({quantised_blocks(n)}, x.options().dtype(at::kFloat))};
  if (x.is_meta() || n == 0) return out;
  const Traced traced("quantise_blockwise", {x, out.codes, out.absmax});
  const QuantisedArray array{.codes = out.codes.mutable_data_ptr<std::uint8_t>(),
                             .absmax = out.absmax.mutable_data_ptr<float>(),
                             .n = n,
                             .is_signed = is_signed};
  if (x.is_cuda()) {
    const c10::cuda::CUDAGuard guard(x.device());
    const int error =
        quantise_blockwise_cuda(x.const_data_ptr(), *storage, array, c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CHECK(error == 0, "quantise_blockwise: the launch failed with CUDA error ", error);
  } else {
    at::parallel_for(0, quantised_blocks(n), kAdamw8bitGrain, [&](std::int64_t begin, std::int64_t end) {
      quantise_blockwise_cpu(x.const_data_ptr(), *storage, array, begin, end);
    });
  }
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
  if (y.is_cuda()) {
    const c10::cuda::CUDAGuard guard(y.device());
    const int error = dequantise_blockwise_cuda(array, values, c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CHECK(error == 0, "dequantise_blockwise: the launch failed with CUDA error ", error);
  } else {
    at::parallel_for(0, quantised_blocks(n), kAdamw8bitGrain, [&](std::int64_t begin, std::int64_t end) {
      dequantise_blockwise_cpu(array, values, begin, end);
    });
  }
  return y;
}

}  // namespace headroom::kernels
