// RMSNorm: y = x · rstd · w.
#pragma once

#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels {

int rms_norm_forward_cuda(const NormForward& norm, CUstream_st* stream);
int rms_norm_rebuild_cuda(const NormForward& norm, CUstream_st* stream);  // y from x, weight and rstd
int rms_norm_backward_cuda(const NormBackward& norm, CUstream_st* stream);

void rms_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);
void rms_norm_rebuild_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);
void rms_norm_backward_cpu(const NormBackward& norm, std::int64_t part, std::int64_t parts);

}  // namespace headroom::kernels
