// Shrinks a long run's file: memory of the first steps, losses and speeds of all.
#pragma once

#include "demos/record/recording.h"

namespace headroom::record {

// Provenance key: "3 of 200 steps".
inline constexpr std::string_view kMemoryOf = "memory_of";

// Drops later events, marks, placements, kernels and counters. Runs without more steps stay unchanged.
Recording first_steps(const Recording& run, int steps);

}  // namespace headroom::record
