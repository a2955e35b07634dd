// Shared by the cases of the losses. Included only by *_case.cpp.
#pragma once

#include <ATen/ATen.h>

namespace headroom::kernels {

// The Hugging Face model's loss, in fp32 after casting the logits.
inline at::Tensor eager_cross_entropy(const at::Tensor& logits_NV, const at::Tensor& targets_N) {
  return at::nll_loss(at::log_softmax(logits_NV.to(at::kFloat), -1), targets_N);
}

inline at::Tensor no_error(at::Device device) {
  return at::zeros({1}, at::TensorOptions().device(device).dtype(at::kLong));
}

}  // namespace headroom::kernels
