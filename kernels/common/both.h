// Shared by CPU and CUDA kernels. Files that must give the same bits are compiled without FMA contraction (see
// kernels/CMakeLists.txt).
#pragma once

#include <cstdint>

#include "demos/record/mixed64.h"  // HEADROOM_BOTH

namespace headroom::kernels {

// nvcc does not allow std::bit_cast in device code.
HEADROOM_BOTH std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
HEADROOM_BOTH float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

}  // namespace headroom::kernels
