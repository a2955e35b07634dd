// LayerNorm: y = (x − mean) · rstd · w + b.
#pragma once

#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels {

int layer_norm_forward_cuda(const NormForward& norm, CUstream_st* stream);
int layer_norm_backward_cuda(const NormBackward& norm, CUstream_st* stream);

void layer_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);
void layer_norm_backward_cpu(const NormBackward& norm, std::int64_t part, std::int64_t parts);

}  // namespace headroom::kernels
