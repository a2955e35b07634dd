// Applies a cap to a CPU run, which has no blocks or segments.
#pragma once

#include "demos/record/recording.h"

namespace headroom::predict {

// Ends out of memory at the first request that exceeds `limit` (0: none), like the CPU's probe. Adds the live bytes
// to each event.
record::Recording capped(const record::Recording& requests, record::Bytes limit);

// The outcome of a request that exceeds a limit, also on a GPU.
record::Outcome ran_out(const record::Recording& requests, const record::MemEvent& asked,
                        record::OutOfMemoryFacts facts);

}  // namespace headroom::predict
