// How a predicted run ends that runs out of memory.
#pragma once

#include "demos/record/recording.h"

namespace headroom::predict {

// `asked`: the event that found no room; `facts`: the bytes asked for, in use and allowed.
record::Outcome ran_out(const record::Recording& requests, const record::MemEvent& asked,
                        record::OutOfMemoryFacts facts);

}  // namespace headroom::predict
