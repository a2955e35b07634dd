// GeGLU, in the tanh form: h = gelu(gate) · up.
#pragma once

#include "kernels/gated/gated.h"

namespace headroom::kernels {

void geglu_forward_cpu(const GatedForward& args, Storage storage, std::int64_t begin, std::int64_t end);
void geglu_backward_cpu(const GatedBackward& args, Storage storage, std::int64_t begin, std::int64_t end);
int geglu_forward_cuda(const GatedForward& args, Storage storage, std::int64_t n, CUstream_st* stream);
int geglu_backward_cuda(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream);

inline constexpr GatedKernels kGegluKernels = {
    .name = "geglu",
    .forward_cpu = &geglu_forward_cpu,
    .backward_cpu = &geglu_backward_cpu,
    .forward_cuda = &geglu_forward_cuda,
    .backward_cuda = &geglu_backward_cuda,
};

}  // namespace headroom::kernels
