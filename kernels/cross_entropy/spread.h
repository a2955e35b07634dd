// Cross entropy of long rows, each spread over a cluster (Hopper and later).
#pragma once

#include "kernels/cross_entropy/cross_entropy.h"

namespace headroom::kernels {

// True if the device has clusters, and the shared memory of eight blocks holds a row: up to 913,408 bf16 columns on an
// H200.
bool spread_takes(const CrossEntropyArgs& args);

// Like cross_entropy_cuda, for rows that spread_takes().
int cross_entropy_spread_cuda(const CrossEntropyArgs& args, CUstream_st* stream);

}  // namespace headroom::kernels
