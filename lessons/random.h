// Numbers that are drawn alike on every machine.
#pragma once

#include <cstdint>

namespace headroom::lessons {

// SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace headroom::lessons
