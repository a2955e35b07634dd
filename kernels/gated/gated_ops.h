// What SwiGLU and GeGLU on tensors have in common.
#pragma once

#include <ATen/ATen.h>

#include "kernels/gated/gated.h"

namespace headroom::kernels {

struct GatedGradients {
  at::Tensor dgate, dup;
  at::Tensor h;  // the forward's product once more; undefined if it was not asked for
};

// swiglu_forward and its kin with the kernels as an argument.
at::Tensor gated_forward(const GatedKernels& kernels, const at::Tensor& gate, const at::Tensor& up);
GatedGradients gated_backward(const GatedKernels& kernels, const at::Tensor& dh, const at::Tensor& gate,
                              const at::Tensor& up, bool rebuild_h, bool in_place);
at::Tensor gated(const GatedKernels& kernels, const at::Tensor& gate, const at::Tensor& up);

}  // namespace headroom::kernels
