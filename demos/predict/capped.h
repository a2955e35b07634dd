// What a cap makes of a run on the CPU, whose allocator has neither blocks nor segments.
#pragma once

#include "demos/record/recording.h"

namespace headroom::predict {

// The recording up to the first request of its device that would bring the live bytes above `limit`, where it ends out of
// memory, as the CPU's probe refuses it. Each event has the bytes that are live after it. 0: there is no limit.
record::Recording capped(const record::Recording& requests, record::Bytes limit);

}  // namespace headroom::predict
