// Shared by the cases of SwiGLU and GeGLU. Included only by *_case.cpp.
#pragma once

#include <ATen/ATen.h>

#include "kernels/gated/gated_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels::gated_case {

struct CaseOps {
  at::Tensor (*eager)(const at::Tensor& gate, const at::Tensor& up);
  at::Tensor (*forward)(const at::Tensor& gate, const at::Tensor& up);
  GatedGradients (*backward)(const at::Tensor& dh, const at::Tensor& gate, const at::Tensor& up, bool rebuild_h,
                             bool in_place);
  at::Tensor (*differentiable)(const at::Tensor& gate, const at::Tensor& up);
  at::Tensor (*reference)(const at::Tensor& gate, const at::Tensor& up);
};

inline constexpr Shape kOddShapes[] = {{1, 1}, {1, 7}, {9, 1}, {15, 129}, {64, 1024}, {1, 100'003}};

// If shape.hidden > 0, the inputs are x and the three weights, otherwise gate and up.
KernelInputs inputs(const Shape& shape, const TensorMaker& make);
KernelForms forms(const CaseOps& ops, const Shape& shape, const KernelInputs& in);

}  // namespace headroom::kernels::gated_case
