// RMSNorm on raw memory: y = x · rstd · w. No torch.
#pragma once

#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels {

// Queue the whole pass on the stream; allocate nothing. Return the launches' cudaError_t (0: queued).
int rms_norm_forward_cuda(const NormForward& norm, CUstream_st* stream);
int rms_norm_rebuild_cuda(const NormForward& norm, CUstream_st* stream);  // y from x, weight and rstd
int rms_norm_backward_cuda(const NormBackward& norm, CUstream_st* stream);

// Rows [begin, end) on the calling thread.
void rms_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);
void rms_norm_rebuild_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);
// Part `part` of `parts` (cpu_parts of the rows): its rows' dx, and its row of `partials`.
void rms_norm_backward_cpu(const NormBackward& norm, std::int64_t part, std::int64_t parts);

}  // namespace headroom::kernels
