// Simulates the caching allocator for a run's requests.
#pragma once

#include <string_view>

#include "demos/record/recording.h"

namespace headroom::predict {

// A GPU run's setting: the allocator maps pages instead of allocating segments.
inline constexpr std::string_view kExpandableSegments = "expandable_segments";

// Passes the requests of the recording's device to the allocator, and replaces all blocks, segments and totals. The
// result ends out of memory when reserved bytes exceed `limit` (0: no limit). Segments get the recorded addresses, if
// any, otherwise the simulated driver's. As in a step, a CUDA graph first empties the cache.
record::Recording placed(const record::Recording& requests, record::Bytes limit = 0);

}  // namespace headroom::predict
