// SwiGLU: h = silu(gate) · up.
#pragma once

#include "kernels/gated/gated.h"

namespace headroom::kernels {

void swiglu_forward_cpu(const GatedForward& args, Storage storage, std::int64_t begin, std::int64_t end);
void swiglu_backward_cpu(const GatedBackward& args, Storage storage, std::int64_t begin, std::int64_t end);
int swiglu_forward_cuda(const GatedForward& args, Storage storage, std::int64_t n, CUstream_st* stream);
int swiglu_backward_cuda(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream);

inline constexpr GatedKernels kSwigluKernels = {
    .name = "swiglu",
    .forward_cpu = &swiglu_forward_cpu,
    .backward_cpu = &swiglu_backward_cpu,
    .forward_cuda = &swiglu_forward_cuda,
    .backward_cuda = &swiglu_backward_cuda,
};

}  // namespace headroom::kernels
