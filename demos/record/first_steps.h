// A long run as a small file: memory of its first steps, losses and speeds of all.
#pragma once

#include "demos/record/recording.h"

namespace headroom::record {

// Provenance of such a recording: "3 of 200 steps".
inline constexpr std::string_view kMemoryOf = "memory_of";

// Without events, marks, placements, kernels and counters behind step `steps` - 1. A run without more steps stays
// as it is.
Recording first_steps(const Recording& run, int steps);

}  // namespace headroom::record
