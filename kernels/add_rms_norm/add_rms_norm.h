// Residual addition and RMSNorm in one pass, on raw memory. Backward is that of RMSNorm with d_sum. No torch.
#pragma once

#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels {

// Queues the whole pass on the stream; allocates nothing. Returns the launch's cudaError_t (0: queued).
int add_rms_norm_forward_cuda(const NormForward& norm, CUstream_st* stream);

// Rows [begin, end) on the calling thread.
void add_rms_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);

}  // namespace headroom::kernels
