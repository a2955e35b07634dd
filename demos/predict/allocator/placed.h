// Simulates the caching allocator for a run's requests.
#pragma once

#include <string_view>

#include "demos/record/recording.h"

namespace headroom::predict {

// A GPU run's setting: the allocator maps pages instead of allocating segments.
inline constexpr std::string_view kExpandableSegments = "expandable_segments";

// Passes the requests of the recording's device to the allocator, and replaces all blocks, segments and totals. Ends
// out of memory when `limit` (reserved bytes; 0: none) is exceeded. Segments get the recorded addresses, otherwise
// the driver's. A CUDA graph first empties the cache, as in a step.
record::Recording placed(const record::Recording& requests, record::Bytes limit = 0);

}  // namespace headroom::predict
