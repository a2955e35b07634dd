// The gradient check, the loss scale and the gradients' norm on tensors.
#include "kernels/gradient_check/gradient_check_ops.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kGradientCheckGrain = 65536;
constexpr std::array kStorages{Storage::kFp32, Storage::kBf16, Storage::kFp16};

// The gradients that have elements, grouped by storage; none on meta. In errors, `whose` names the tensor on `device`.
std::array<std::vector<CheckedTensor>, kStorages.size()> by_storage(std::span<const at::Tensor> gradients,
                                                                    at::Device device, const char* op,
                                                                    const char* whose) {
  std::array<std::vector<CheckedTensor>, kStorages.size()> all;
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto storage = storage_of(gradient.scalar_type());
    TORCH_CHECK(storage, op, ": no kernel for a gradient of ", gradient.scalar_type());
    TORCH_CHECK(gradient.is_contiguous() && gradient.device() == device, op,
                ": a gradient is not contiguous or not on the ", whose, "'s device");
    if (device.is_meta() || gradient.numel() == 0) continue;
    all[static_cast<std::size_t>(*storage)].push_back({gradient.const_data_ptr(), gradient.numel()});
  }
  return all;
}

Traced traced_gradients(const char* op, std::span<const at::Tensor> gradients) {
  return Traced(op, [gradients](const auto& touch) {
    for (const at::Tensor& gradient : gradients)
      if (gradient.defined()) touch(gradient);
  });
}

std::int64_t blocks_of(std::span<const at::Tensor> gradients) {
  std::int64_t blocks = 0;
  for (const at::Tensor& gradient : gradients)
    if (gradient.defined()) blocks += norm_blocks(gradient.numel());
  return blocks;
}

void check_on_cpu(const std::vector<CheckedTensor>& tensors, Storage storage, std::int32_t* overflow) {
  for (const CheckedTensor& tensor : tensors) {
    std::atomic<bool> finite = true;
    at::parallel_for(0, tensor.n, kGradientCheckGrain, [&](std::int64_t begin, std::int64_t end) {
      if (!all_finite_cpu(tensor, storage, begin, end)) finite = false;
    });
    if (!finite) *overflow = 1;
  }
}

void sums_on_cpu(const std::vector<CheckedTensor>& tensors, Storage storage, double* sums) {
  for (const CheckedTensor& tensor : tensors) {
    at::parallel_for(0, norm_blocks(tensor.n), /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        sums[i] = sum_of_squares_cpu(tensor, storage, i * kNormBlock, std::min((i + 1) * kNormBlock, tensor.n));
    });
    sums += norm_blocks(tensor.n);
  }
}

}  // namespace

void check_finite_(std::span<const at::Tensor> gradients, const at::Tensor& overflow) {
  constexpr const char* kOp = "check_finite_";
  TORCH_CHECK(overflow.defined(), kOp, ": overflow is undefined");
  const at::Device device = overflow.device();
  check_number(overflow, at::kInt, device, kOp, "overflow");
  const auto tensors = by_storage(gradients, device, kOp, "flag");
  if (device.is_meta()) return;
  const Traced traced = traced_gradients("check_finite", gradients);
  auto* const flag = overflow.mutable_data_ptr<std::int32_t>();
  for (const Storage storage : kStorages) {
    const std::vector<CheckedTensor>& some = tensors[static_cast<std::size_t>(storage)];
    if (some.empty()) continue;
    if (device.is_cuda())
      launch_on(device, kOp, [&](CUstream_st* stream) { return check_finite_cuda(some, storage, flag, stream); });
    else
      check_on_cpu(some, storage, flag);
  }
}

void update_loss_scale_(const at::Tensor& scale, const at::Tensor& inverse_scale, const at::Tensor& good_steps,
                        const at::Tensor& overflow, const at::Tensor& skipped, std::int64_t growth_interval,
                        double growth, double backoff, double least) {
  constexpr const char* kOp = "update_loss_scale_";
  TORCH_CHECK(scale.defined(), kOp, ": scale is undefined");
  const at::Device device = scale.device();
  check_number(scale, at::kFloat, device, kOp, "scale");
  check_number(inverse_scale, at::kFloat, device, kOp, "inverse_scale");
  check_number(good_steps, at::kInt, device, kOp, "good_steps");
  check_number(overflow, at::kInt, device, kOp, "overflow");
  check_number(skipped, at::kLong, device, kOp, "skipped");
  TORCH_CHECK(growth_interval > 0 && growth >= 1 && backoff > 0 && backoff <= 1 && least > 0 && std::isfinite(growth) &&
                  std::isfinite(least),
              kOp, ": the scale must grow by a factor of at least 1, shrink by one of at most 1, and stay positive");
  if (device.is_meta()) return;
  const Traced traced(kOp, {scale, scale});
  const LossScale state{.scale = scale.mutable_data_ptr<float>(),
                        .inverse_scale = inverse_scale.mutable_data_ptr<float>(),
                        .good_steps = good_steps.mutable_data_ptr<std::int32_t>(),
                        .overflow = overflow.mutable_data_ptr<std::int32_t>(),
                        .skipped = skipped.mutable_data_ptr<std::int64_t>()};
  const LossScaleRule rule{.growth_interval = growth_interval,
                           .growth = static_cast<float>(growth),
                           .backoff = static_cast<float>(backoff),
                           .least = static_cast<float>(least)};
  if (device.is_cuda())
    launch_on(device, kOp, [&](CUstream_st* stream) { return update_loss_scale_cuda(state, rule, stream); });
  else
    update_loss_scale(state, rule);
}

void sums_of_squares_(std::span<const at::Tensor> gradients, const at::Tensor& sums) {
  constexpr const char* kOp = "sums_of_squares_";
  TORCH_CHECK(sums.defined() && sums.scalar_type() == at::kDouble && sums.is_contiguous(), kOp,
              ": sums must be fp64, contiguous");
  const at::Device device = sums.device();
  const auto tensors = by_storage(gradients, device, kOp, "sums");
  const std::int64_t blocks = blocks_of(gradients);
  TORCH_CHECK(blocks <= sums.numel(), kOp, ": ", blocks, " sums have room for ", sums.numel());
  if (device.is_meta()) return;
  const Traced traced = traced_gradients("clip_factor", gradients);
  auto* next = sums.mutable_data_ptr<double>();
  for (const Storage storage : kStorages) {
    const std::vector<CheckedTensor>& some = tensors[static_cast<std::size_t>(storage)];
    if (device.is_cuda())
      launch_on(device, kOp, [&](CUstream_st* stream) { return sums_of_squares_cuda(some, storage, next, stream); });
    else
      sums_on_cpu(some, storage, next);
    for (const CheckedTensor& tensor : some) next += norm_blocks(tensor.n);
  }
}

void clip_factor_of_(const at::Tensor& sums, double most, const at::Tensor& inverse_scale, const at::Tensor& factor) {
  constexpr const char* kOp = "clip_factor_";
  TORCH_CHECK(factor.defined(), kOp, ": factor is undefined");
  const at::Device device = factor.device();
  check_number(factor, at::kFloat, device, kOp, "factor");
  if (inverse_scale.defined()) check_number(inverse_scale, at::kFloat, device, kOp, "inverse_scale");
  TORCH_CHECK(most > 0, kOp, ": a norm of at most ", most);
  TORCH_CHECK(sums.device() == device, kOp, ": sums must be on the factor's device");
  if (device.is_meta()) return;
  const Traced traced("clip_factor", [&](const auto& touch) { touch(sums); });
  const auto* const first = sums.const_data_ptr<double>();
  const float* const inverse = pointer<float>(inverse_scale);
  auto* const result = factor.mutable_data_ptr<float>();
  if (device.is_cuda())
    launch_on(device, kOp, [&](CUstream_st* stream) {
      return clip_factor_cuda(first, sums.numel(), most, inverse, result, stream);
    });
  else
    *result = clip_factor(std::accumulate(first, first + sums.numel(), 0.0), most, inverse);
}

void clip_factor_(std::span<const at::Tensor> gradients, double most, const at::Tensor& inverse_scale,
                  const at::Tensor& sums, const at::Tensor& factor) {
  sums_of_squares_(gradients, sums);
  clip_factor_of_(sums.narrow(0, 0, blocks_of(gradients)), most, inverse_scale, factor);
}

}  // namespace headroom::kernels
