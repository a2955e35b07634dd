// Counts of numbers by the exponent of their magnitude.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/adamw/adamw.h"
#include "kernels/common/both.h"
#include "kernels/common/storage.h"

namespace headroom::kernels {

// Bins 0 … 254: fp32's exponent field, where bin 0 has nonzero numbers below 2^−126; 255: infinities and NaN; 256:
// zeros.
inline constexpr int kExponentBins = 257, kNotFiniteBin = 255, kZeroBin = 256;

HEADROOM_BOTH std::uint32_t exponent_bin(float x) {
  const std::uint32_t magnitude = bits_of(x) & 0x7fffffffu;
  return magnitude == 0 ? kZeroBin : magnitude >> 23;
}

// The numbers to count: x · factor, rounded to fp32.
struct CountedNumbers {
  const void* x;  // [n]
  Storage storage;
  std::int64_t n;
  const float* factor;   // [1]; null: 1
  std::int64_t* counts;  // [kExponentBins], incremented
};

// Changes that an AdamW step wanted to make.
struct CountedUpdates {
  const void *before, *after;                // [n], the weight before and after the step
  const void *first_moment, *second_moment;  // [n], after the step
  Storage weight, moment;                    // moments: fp32 or bf16
  std::int64_t n;
  std::int64_t* updates;  // [kExponentBins], all changes
  std::int64_t* lost;     // [kExponentBins], nonzero changes lost to rounding
};

// `step.decay` is 1 if the weight does not decay.
HEADROOM_BOTH float wanted_change(float before, float m, float v, const AdamWStep& step) {
  const float denominator = std::sqrt(v) * step.second_moment_scale + step.epsilon;
  return (step.decay - 1.0f) * before - step.step_size * m / denominator;
}

// Count elements [begin, end); several threads may add to the same counts.
void count_exponents_cpu(const CountedNumbers& numbers, std::int64_t begin, std::int64_t end);
void count_updates_cpu(const CountedUpdates& updates, const AdamWStep& step, std::int64_t begin, std::int64_t end);

// One launch, or none for n = 0. A step that overflowed is ignored.
int count_exponents_cuda(const CountedNumbers& numbers, CUstream_st* stream);
int count_updates_cuda(const CountedUpdates& updates, const AdamWStep& step, const AdamWSwitches& switches,
                       CUstream_st* stream);

}  // namespace headroom::kernels
