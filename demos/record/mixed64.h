// SplitMix64's finalizer, for the CPU and CUDA.
#pragma once

#include <cstdint>

// For functions that CPU and CUDA share.
#if defined(__CUDACC__)
#define HEADROOM_BOTH __host__ __device__ __forceinline__
#else
#define HEADROOM_BOTH inline __attribute__((always_inline))
#endif

namespace headroom::record {

// A bijection that spreads nearby numbers evenly (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
HEADROOM_BOTH std::uint64_t mixed64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace headroom::record
