// Conversions of rows of 16-bit numbers to fp32 and back, on the CPU.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

namespace headroom::kernels {

void widen_row(const Bf16* from, float* to, std::int64_t count);
void widen_row(const Fp16* from, float* to, std::int64_t count);

// to = alpha · sums, or += if `adds`, rounded once.
void round_row(const float* sums, float alpha, bool adds, Bf16* to, std::int64_t count);
void round_row(const float* sums, float alpha, bool adds, Fp16* to, std::int64_t count);

}  // namespace headroom::kernels
