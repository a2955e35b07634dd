// NF4's tables, and the code of a number: the same on CPU and CUDA.
#pragma once

#include <cstdint>

#include "kernels/common/both.h"
#include "kernels/nf4/nf4.h"

namespace headroom::kernels {

struct Nf4Tables {
  float level[16];   // by code
  float middle[15];  // between a level and the next
};

constexpr Nf4Tables nf4_tables() {
  Nf4Tables tables{};
  for (int i = 0; i < 16; ++i) tables.level[i] = kNf4Levels[i];
  for (int i = 0; i < 15; ++i) {
    tables.middle[i] = static_cast<float>((double{kNf4Levels[i]} + double{kNf4Levels[i + 1]}) / 2);
  }
  return tables;
}

// The code of the level nearest to x, |x| ≤ 1. A NaN gets code 0.
HEADROOM_BOTH unsigned nf4_code(float x, const float* middle) {
  unsigned code = 0;
  for (int i = 0; i < 15; ++i) code += x > middle[i] ? 1u : 0u;
  return code;
}

// Partial sums of the absmaxes' mean: number i adds up those whose index is i modulo this, and then neighbors at half
// the distance each time. In double and in a fixed order, so that CPU and CUDA get the same mean.
inline constexpr int kMeanParts = 1024;

}  // namespace headroom::kernels
