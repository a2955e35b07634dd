// What the caching allocator makes of a run's requests: blocks, segments and its own totals, without the GPU.
#pragma once

#include <string_view>

#include "demos/record/recording.h"

namespace headroom::predict {

// The setting of a run on a GPU by which the allocator maps pages into ranges of addresses instead of taking segments.
inline constexpr std::string_view kExpandableSegments = "expandable_segments";

// The recording with the requests of its device given to the allocator, in their order: every allocation gets its block
// and its place, segments come and go, each event has the totals after it. Where `limit` (of reserved bytes; 0: none)
// leaves no room the recording ends, out of memory. Segments get the addresses that the recording holds,
// else those that the driver would choose. Requests of other devices stay as they are; blocks, segments and totals that
// were there are forgotten. Where a CUDA graph begins, as its first requests say, the cache is emptied, as a step that
// records one does.
record::Recording placed(const record::Recording& requests, record::Bytes limit = 0);

}  // namespace headroom::predict
