// Applies a cap to a CPU run, which has no blocks or segments.
#pragma once

#include "demos/record/recording.h"

namespace headroom::predict {

// The result ends out of memory at the first request that exceeds `limit` (0: no limit), as with the CPU's probe. Each
// event gets the live bytes after it.
record::Recording capped(const record::Recording& requests, record::Bytes limit);

// The outcome of a request that exceeds a limit.
record::Outcome ran_out(const record::Recording& requests, const record::MemEvent& asked,
                        record::OutOfMemoryFacts facts);

}  // namespace headroom::predict
