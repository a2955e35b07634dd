// The gradient check and the loss scale on tensors.
#include "kernels/gradient_check/gradient_check_ops.h"

#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"
#include "kernels/gradient_check/gradient_check.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kGradientCheckGrain = 65536;
constexpr std::array kStorages{Storage::kFp32, Storage::kBf16, Storage::kFp16};

void check_on_cpu(const std::vector<CheckedTensor>& tensors, Storage storage, std::int32_t* overflow) {
  for (const CheckedTensor& tensor : tensors) {
    std::atomic<bool> finite = true;
    at::parallel_for(0, tensor.n, kGradientCheckGrain, [&](std::int64_t begin, std::int64_t end) {
      if (!all_finite_cpu(tensor, storage, begin, end)) finite = false;
    });
    if (!finite) *overflow = 1;
  }
}

}  // namespace

void check_finite_(std::span<const at::Tensor> gradients, const at::Tensor& overflow) {
  TORCH_CHECK(overflow.defined(), "check_finite_: overflow is undefined");
  const at::Device device = overflow.device();
  check_number(overflow, at::kInt, device, "check_finite_", "overflow");
  std::array<std::vector<CheckedTensor>, kStorages.size()> by_storage;
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto storage = storage_of(gradient.scalar_type());
    TORCH_CHECK(storage, "check_finite_: no kernel for a gradient of ", gradient.scalar_type());
    TORCH_CHECK(gradient.is_contiguous() && gradient.device() == device,
                "check_finite_: a gradient is not contiguous or not on the flag's device");
    if (device.is_meta()) continue;
    by_storage[static_cast<std::size_t>(*storage)].push_back({gradient.const_data_ptr(), gradient.numel()});
  }
  if (device.is_meta()) return;
  const Traced traced("check_finite", [&](const auto& touch) {
    for (const at::Tensor& gradient : gradients) {
      if (gradient.defined()) touch(gradient);
    }
  });
  auto* const flag = overflow.mutable_data_ptr<std::int32_t>();
  for (const Storage storage : kStorages) {
    const std::vector<CheckedTensor>& tensors = by_storage[static_cast<std::size_t>(storage)];
    if (tensors.empty()) continue;
    if (device.is_cuda()) {
      const c10::cuda::CUDAGuard guard(device);
      const int error = check_finite_cuda(tensors, storage, flag, c10::cuda::getCurrentCUDAStream().stream());
      TORCH_CHECK(error == 0, "check_finite_: the launch failed with CUDA error ", error);
    } else {
      check_on_cpu(tensors, storage, flag);
    }
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
  if (device.is_cuda()) {
    const c10::cuda::CUDAGuard guard(device);
    const int error = update_loss_scale_cuda(state, rule, c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CHECK(error == 0, kOp, ": the launch failed with CUDA error ", error);
  } else {
    update_loss_scale(state, rule);
  }
}

}  // namespace headroom::kernels
