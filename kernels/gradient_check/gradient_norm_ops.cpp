// The gradients' norm on tensors.
#include "kernels/gradient_check/gradient_norm_ops.h"

#include <algorithm>
#include <array>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

constexpr const char* kOp = "clip_factor_";
constexpr std::array kNormStorages{Storage::kFp32, Storage::kBf16, Storage::kFp16};

using ByStorage = std::array<std::vector<CheckedTensor>, kNormStorages.size()>;

void sums_on_cpu(const std::vector<CheckedTensor>& tensors, Storage storage, double* sums) {
  for (const CheckedTensor& tensor : tensors) {
    at::parallel_for(0, norm_blocks(tensor.n), /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        sums[i] = sum_of_squares_cpu(tensor, storage, i * kNormBlock, std::min((i + 1) * kNormBlock, tensor.n));
    });
    sums += norm_blocks(tensor.n);
  }
}

// Returns the gradients that have elements; none on meta.
ByStorage checked(std::span<const at::Tensor> gradients, const at::Tensor& sums) {
  ByStorage by_storage;
  std::int64_t blocks = 0;
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto storage = storage_of(gradient.scalar_type());
    TORCH_CHECK(storage, kOp, ": no kernel for a gradient of ", gradient.scalar_type());
    TORCH_CHECK(gradient.is_contiguous() && gradient.device() == sums.device(), kOp,
                ": a gradient is not contiguous or not on the factor's device");
    blocks += norm_blocks(gradient.numel());
    if (gradient.is_meta() || gradient.numel() == 0) continue;
    by_storage[static_cast<std::size_t>(*storage)].push_back({gradient.const_data_ptr(), gradient.numel()});
  }
  TORCH_CHECK(blocks <= sums.numel(), kOp, ": ", blocks, " sums have room for ", sums.numel());
  return by_storage;
}

}  // namespace

void clip_factor_(std::span<const at::Tensor> gradients, double most, const at::Tensor& inverse_scale,
                  const at::Tensor& sums, const at::Tensor& factor) {
  TORCH_CHECK(factor.defined(), kOp, ": factor is undefined");
  const at::Device device = factor.device();
  check_number(factor, at::kFloat, device, kOp, "factor");
  if (inverse_scale.defined()) check_number(inverse_scale, at::kFloat, device, kOp, "inverse_scale");
  TORCH_CHECK(most > 0, kOp, ": a norm of at most ", most);
  TORCH_CHECK(sums.defined() && sums.scalar_type() == at::kDouble && sums.is_contiguous() && sums.device() == device,
              kOp, ": sums must be fp64, contiguous, on the factor's device");
  const ByStorage by_storage = checked(gradients, sums);
  if (device.is_meta()) return;
  const Traced traced("clip_factor", [&](const auto& touch) {
    for (const at::Tensor& gradient : gradients) {
      if (gradient.defined()) touch(gradient);
    }
  });
  const float* const inverse = inverse_scale.defined() ? inverse_scale.const_data_ptr<float>() : nullptr;
  auto* const first = sums.mutable_data_ptr<double>();
  double* next = first;
  for (const Storage storage : kNormStorages) {
    const std::vector<CheckedTensor>& tensors = by_storage[static_cast<std::size_t>(storage)];
    if (device.is_cuda()) {
      const c10::cuda::CUDAGuard guard(device);
      const int error = sums_of_squares_cuda(tensors, storage, next, c10::cuda::getCurrentCUDAStream().stream());
      TORCH_CHECK(error == 0, kOp, ": the launch failed with CUDA error ", error);
    } else {
      sums_on_cpu(tensors, storage, next);
    }
    for (const CheckedTensor& tensor : tensors) next += norm_blocks(tensor.n);
  }
  auto* const result = factor.mutable_data_ptr<float>();
  if (device.is_cuda()) {
    const c10::cuda::CUDAGuard guard(device);
    const int error =
        clip_factor_cuda(first, next - first, most, inverse, result, c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CHECK(error == 0, kOp, ": the launch failed with CUDA error ", error);
  } else {
    double sum = 0;
    for (const double* each = first; each < next; ++each) sum += *each;
    *result = clip_factor(sum, most, inverse);
  }
}

}  // namespace headroom::kernels
