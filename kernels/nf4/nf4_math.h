// NF4's tables, and the code of a number.
#pragma once

#include <cstdint>

#include "kernels/common/both.h"
#include "kernels/nf4/nf4.h"

namespace headroom::kernels {

struct Nf4Tables {
  float level[16];   // by code
  float middle[15];  // midpoint of a level and the next
};

constexpr Nf4Tables nf4_tables() {
  Nf4Tables tables{};
  for (int i = 0; i < 16; ++i) tables.level[i] = kNf4Levels[i];
  for (int i = 0; i < 15; ++i) {
    tables.middle[i] = static_cast<float>((double{kNf4Levels[i]} + double{kNf4Levels[i + 1]}) / 2);
  }
  return tables;
}

// Code of the level nearest to x, |x| ≤ 1; 0 for NaN.
HEADROOM_BOTH unsigned nf4_code(float x, const float* middle) {
  unsigned code = 0;
  for (int i = 0; i < 15; ++i) code += x > middle[i] ? 1u : 0u;
  return code;
}

// Number of partial sums of the absmaxes' mean. Sum i adds absmaxes whose index modulo this is i; then sums are added
// in pairs, in each round at half the distance. The fixed order, in double, gives CPU and CUDA the same mean.
inline constexpr int kMeanParts = 1024;

}  // namespace headroom::kernels
