// SwiGLU and GeGLU by their common signatures.
#pragma once

#include <ATen/ATen.h>

#include "kernels/geglu/geglu_ops.h"
#include "kernels/swiglu/swiglu_ops.h"

namespace headroom::tests {

struct GatedOps {
  const char* name;
  at::Tensor (*forward)(const at::Tensor& gate, const at::Tensor& up);
  kernels::GatedGradients (*backward)(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up,
                                      bool rebuild_h, bool in_place);
  at::Tensor (*differentiable)(const at::Tensor& gate, const at::Tensor& up);
};

inline constexpr GatedOps kGatedOps[] = {
    {"swiglu", &kernels::swiglu_forward, &kernels::swiglu_backward, &kernels::swiglu},
    {"geglu", &kernels::geglu_forward, &kernels::geglu_backward, &kernels::geglu}};

}  // namespace headroom::tests
