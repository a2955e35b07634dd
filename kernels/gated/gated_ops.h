// SwiGLU and GeGLU on tensors: gate and up of one shape, contiguous, in fp32, bf16 or fp16. On meta, these functions
// only allocate. They throw c10::Error if tensors do not fit.
#pragma once

#include <ATen/ATen.h>

#include "kernels/gated/gated.h"

namespace headroom::kernels {

struct GatedGradients {
  at::Tensor dgate, dup;
  at::Tensor h;  // the forward pass's result, if requested
};

// rebuild_h recomputes h, for the next GEMM's weight gradient. in_place allocates nothing: dgate replaces gate, dup
// replaces up and h replaces dh.
at::Tensor gated_forward(const GatedKernels& kernels, const at::Tensor& gate, const at::Tensor& up);
GatedGradients gated_backward(const GatedKernels& kernels, const at::Tensor& dh, const at::Tensor& gate,
                              const at::Tensor& up, bool rebuild_h, bool in_place);
at::Tensor gated(const GatedKernels& kernels, const at::Tensor& gate, const at::Tensor& up);

}  // namespace headroom::kernels
