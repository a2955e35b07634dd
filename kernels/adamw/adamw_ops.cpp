// Takes an AdamW step on tensors to the kernel of their device.
#include <ATen/Parallel.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/adamw/adamw_ops.h"

namespace headroom::kernels {

namespace {

// Below this many elements a second thread costs more than it brings.
constexpr std::int64_t kGrainElements = 32768;

template <typename T>
AdamWTensors<T> raw(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
                    const at::Tensor& second_moment) {
  return {
      .param = static_cast<T*>(param.mutable_data_ptr()),
      .gradient = static_cast<const T*>(gradient.const_data_ptr()),
      .first_moment = static_cast<T*>(first_moment.mutable_data_ptr()),
      .second_moment = static_cast<T*>(second_moment.mutable_data_ptr()),
  };
}

template <typename T>
void run(const AdamWTensors<T>& tensors, const at::Tensor& param, const AdamWStep& step) {
  const std::int64_t n = param.numel();
  if (param.is_cuda()) {
    const int error = adamw_cuda(tensors, n, step, c10::cuda::getCurrentCUDAStream(param.get_device()).stream());
    TORCH_CHECK(error == 0, "adamw: the launch failed with CUDA error ", error);
    return;
  }
  at::parallel_for(0, n, kGrainElements,
                   [&](std::int64_t begin, std::int64_t end) { adamw_cpu(tensors, begin, end, step); });
}

}  // namespace

void adamw(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
           const at::Tensor& second_moment, const AdamWStep& step) {
  for (const at::Tensor* tensor : {&param, &gradient, &first_moment, &second_moment}) {
    TORCH_CHECK(tensor->is_contiguous() && tensor->sizes() == param.sizes() && tensor->device() == param.device() &&
                    tensor->scalar_type() == param.scalar_type(),
                "adamw: parameter, gradient and moments differ in shape, layout, type or device");
  }
  const at::ScalarType type = param.scalar_type();
  TORCH_CHECK(type == at::kFloat || type == at::kBFloat16, "adamw: fp32 or bf16 storage, not ", type);
  if (param.is_meta()) return;
  if (type == at::kFloat) {
    run(raw<float>(param, gradient, first_moment, second_moment), param, step);
  } else {
    run(raw<Bf16>(param, gradient, first_moment, second_moment), param, step);
  }
}

}  // namespace headroom::kernels
