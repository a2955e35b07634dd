// The outcome of running out of memory.
#pragma once

#include "demos/record/recording.h"

namespace headroom::predict {

// `asked`: the failed request.
record::Outcome ran_out(const record::Recording& requests, const record::MemEvent& asked,
                        record::OutOfMemoryFacts facts);

}  // namespace headroom::predict
