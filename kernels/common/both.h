// For functions that the CPU kernels and the CUDA kernels share. Where both must give the same bits, their files are
// compiled without contraction of a·b + c (see kernels/CMakeLists.txt).
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define HEADROOM_BOTH __host__ __device__ __forceinline__
#else
#define HEADROOM_BOTH inline __attribute__((always_inline))
#endif

namespace headroom::kernels {

// std::bit_cast, which nvcc does not let device code call.
HEADROOM_BOTH std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
HEADROOM_BOTH float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

}  // namespace headroom::kernels
