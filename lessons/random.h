// Numbers that are drawn alike on every machine.
#pragma once

#include <cstdint>

#include "demos/record/mixed64.h"

namespace headroom::lessons {

// SplitMix64.
inline std::uint64_t next_random(std::uint64_t& state) { return record::mixed64(state += 0x9e3779b97f4a7c15); }

}  // namespace headroom::lessons
