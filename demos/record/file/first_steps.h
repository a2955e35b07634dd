// Shrinks a long run's file to the first steps' memory and all steps' losses and speeds.
#pragma once

#include "demos/record/recording.h"

namespace headroom::record {

// Provenance key with values such as "3 of 200 steps".
inline constexpr std::string_view kMemoryOf = "memory_of";

// Drops later steps' events, marks, placements, kernels, collectives and counters, of all ranks. Runs without later
// steps stay unchanged.
Recording first_steps(const Recording& run, int steps);

}  // namespace headroom::record
