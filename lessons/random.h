// Random numbers, the same on every machine.
#pragma once

#include <cstdint>

#include "demos/record/mixed64.h"

namespace headroom::lessons {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

// SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
inline std::uint64_t next_random(std::uint64_t& state) { return record::mixed64(state += kGolden); }

}  // namespace headroom::lessons
