// Search for inf and NaN in gradients, and the dynamic loss scale.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/common/both.h"
#include "kernels/common/storage.h"

namespace headroom::kernels {

struct CheckedTensor {
  const void* data;  // [n]
  std::int64_t n;
};

// Mask of the exponent's bits, which are all set only in inf and NaN.
HEADROOM_BOTH std::uint32_t exponent_bits(Storage storage) {
  return storage == Storage::kFp32 ? 0x7f800000u : storage == Storage::kBf16 ? 0x7f80u : 0x7c00u;
}

bool all_finite_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin, std::int64_t end);

// Sets *overflow to 1 if any element is inf or NaN.
int check_finite_cuda(std::span<const CheckedTensor> tensors, Storage storage, std::int32_t* overflow,
                      CUstream_st* stream);

// Pointers to one number each.
struct LossScale {
  float* scale;
  float* inverse_scale;
  std::int32_t* good_steps;
  std::int32_t* overflow;
  std::int64_t* skipped;
};

struct LossScaleRule {
  std::int64_t growth_interval;
  float growth = 2, backoff = 0.5F, least = 1;
};

HEADROOM_BOTH void update_loss_scale(const LossScale& state, const LossScaleRule& rule) {
  constexpr float kMost = 0x1p126f;  // its inverse is the smallest normal fp32
  float scale = *state.scale;
  if (*state.overflow != 0) {
    const float smaller = scale * rule.backoff;
    scale = smaller > rule.least ? smaller : rule.least;
    *state.good_steps = 0;
    *state.overflow = 0;
    ++*state.skipped;
  } else if (++*state.good_steps >= rule.growth_interval) {
    const float larger = scale * rule.growth;
    scale = larger < kMost ? larger : kMost;
    *state.good_steps = 0;
  }
  *state.scale = scale;
  *state.inverse_scale = 1.0f / scale;
}

int update_loss_scale_cuda(const LossScale& state, const LossScaleRule& rule, CUstream_st* stream);

}  // namespace headroom::kernels
