// What the caching allocator makes of a run's requests: blocks, segments and its own totals, without the GPU.
#pragma once

#include "demos/record/recording.h"

namespace headroom::predict {

// The recording with the requests of its device given to the allocator, in their order: every allocation gets its block
// and its place, segments come and go, each event has the totals after it. Where `limit` (of reserved bytes; 0: none)
// leaves no room the recording ends, out of memory. Segments get the addresses that the recording holds,
// else those that the driver would choose. Requests of other devices stay as they are; blocks, segments and totals that
// were there are forgotten. A run that records a CUDA graph is not reproduced: its blocks come from another pool.
record::Recording placed(const record::Recording& requests, record::Bytes limit = 0);

}  // namespace headroom::predict
