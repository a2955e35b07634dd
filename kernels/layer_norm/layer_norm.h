// LayerNorm on raw memory: y = (x − mean) · rstd · w + b. No torch.
#pragma once

#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels {

// Queue the whole pass on the stream; allocate nothing. Return the launches' cudaError_t (0: queued).
int layer_norm_forward_cuda(const NormForward& norm, CUstream_st* stream);
int layer_norm_backward_cuda(const NormBackward& norm, CUstream_st* stream);

// Rows [begin, end) on the calling thread.
void layer_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end);
// Part `part` of `parts` (cpu_parts of the rows): its rows' dx, and its row of both gradients in `partials`.
void layer_norm_backward_cpu(const NormBackward& norm, std::int64_t part, std::int64_t parts);

}  // namespace headroom::kernels
