// The global norm of gradients, and the factor that clips it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/common/both.h"
#include "kernels/gradient_check/gradient_check.h"

namespace headroom::kernels {

// Elements per partial sum of squares. Llama 3.2 1B: 75,430 sums, 603 KB.
inline constexpr std::int64_t kNormBlock = 16384;

constexpr std::int64_t norm_blocks(std::int64_t n) { return (n + kNormBlock - 1) / kNormBlock; }

// Factor that limits the gradients' norm to `most` and removes their loss scale (null: 1), like
// torch.nn.utils.clip_grad_norm_ after unscaling. A NaN norm gives NaN.
HEADROOM_BOTH float clip_factor(double sum_of_squares, double most, const float* inverse_scale) {
  constexpr double kTiny = 1e-6;  // as in clip_grad_norm_
  const double scale = inverse_scale != nullptr ? static_cast<double>(*inverse_scale) : 1.0;
  const double share = most / (std::sqrt(sum_of_squares) * scale + kTiny);
  return static_cast<float>((share > 1 ? 1.0 : share) * scale);
}

double sum_of_squares_cpu(const CheckedTensor& tensor, Storage storage, std::int64_t begin, std::int64_t end);

// Writes partial sums of squares, in the tensors' order.
int sums_of_squares_cuda(std::span<const CheckedTensor> tensors, Storage storage, double* sums, CUstream_st* stream);

// *factor = clip_factor() of `count` sums, added in an order that depends only on `count`.
int clip_factor_cuda(const double* sums, std::int64_t count, double most, const float* inverse_scale, float* factor,
                     CUstream_st* stream);

}  // namespace headroom::kernels
