// Cross entropy of long rows, each spread over the blocks of a cluster: chips with clusters (Hopper and later).
#pragma once

#include "kernels/cross_entropy/cross_entropy.h"

namespace headroom::kernels {

// Whether the current device has clusters and eight blocks' shared memory holds a row: on an H200 bf16 up to 913,408 columns.
bool spread_takes(const CrossEntropyArgs& args);

// As cross_entropy_cuda, for rows that spread_takes().
int cross_entropy_spread_cuda(const CrossEntropyArgs& args, CUstream_st* stream);

}  // namespace headroom::kernels
