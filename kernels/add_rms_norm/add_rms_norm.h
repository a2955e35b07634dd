// Residual addition and RMSNorm in one pass.
#pragma once

#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels {

int add_rms_norm_forward_cuda(const NormForward& norm, CUstream_st* stream);

void add_rms_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);

}  // namespace headroom::kernels
