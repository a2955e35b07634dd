// The global norm of gradients and what clips them to one, on raw memory. No torch.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/common/both.h"
#include "kernels/gradient_check/gradient_check.h"

namespace headroom::kernels {

// Elements of a tensor whose squares are one partial sum. Llama 3.2 1B: 75,430 sums, 603 KB.
inline constexpr std::int64_t kNormBlock = 16384;

// Partial sums of a tensor of n elements.
constexpr std::int64_t norm_blocks(std::int64_t n) { return (n + kNormBlock - 1) / kNormBlock; }

// What gradients are multiplied by so that their norm is at most `most`, beside their inverse loss scale (null: 1), as
// torch.nn.utils.clip_grad_norm_ does it after the scale is taken off. A norm that is no number gives none.
HEADROOM_BOTH float clip_factor(double sum_of_squares, double most, const float* inverse_scale) {
  constexpr double kTiny = 1e-6;  // of clip_grad_norm_
  const double scale = inverse_scale != nullptr ? static_cast<double>(*inverse_scale) : 1.0;
  const double share = most / (std::sqrt(sum_of_squares) * scale + kTiny);
  return static_cast<float>((share > 1 ? 1.0 : share) * scale);
}

// The sum of the squares of elements [begin, end).
double sum_of_squares_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin, std::int64_t end);

// Queues the partial sums of all tensors, in their order, from `sums` on. Returns the first failed launch's cudaError_t
// (0: queued).
int sums_of_squares_cuda(std::span<const CheckedTensor> tensors, Storage storage, double* sums, CUstream_st* stream);

// *factor = clip_factor() of the sum of `count` sums, added in an order that `count` decides alone.
int clip_factor_cuda(const double* sums, std::int64_t count, double most, const float* inverse_scale, float* factor,
                     CUstream_st* stream);

}  // namespace headroom::kernels
