// An all-reduce made of sends and receives between neighbors in a ring. NCCL and gloo have their own; this one shows
// how a ring works, piece by piece.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/engine/llama/ranks/collectives.h"

namespace headroom::llama {

// Elements of the scratch tensor that ring_sum() needs for a buffer of `elements`: the largest piece.
std::int64_t ring_scratch(std::int64_t elements, int ranks);

// Replaces the buffer by its sum over all ranks. Both tensors are 1-D, contiguous and of one type; the buffer has at
// least one element per rank. Queues on a GPU, like Collectives.
void ring_sum(Collectives& ring, const at::Tensor& buffer, const at::Tensor& scratch);

}  // namespace headroom::llama
