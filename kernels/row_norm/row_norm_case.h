// Shared by the norms' cases. Included only by *_case.cpp.
#pragma once

#include <ATen/ATen.h>

#include "kernels/kernel_case.h"

namespace headroom::kernels::row_norm {

inline constexpr double kCaseEpsilon = 1e-5;

// One row, one column; no whole vector; no whole warp; more rows than blocks; a last turn with fewer rows than groups;
// rows too long for registers.
inline constexpr Shape kOddShapes[] = {{1, 1},    {1, 8},      {5, 7},      {3, 40},     {1300, 16},  {17, 257},
                                       {9, 3072}, {130, 1000}, {1101, 520}, {700, 136},  {301, 2048}, {33, 4096},
                                       {7, 8192}, {5, 16384},  {3, 16392},  {2, 33'333}, {2, 40'960}};

inline at::Tensor eager_rms_norm(const at::Tensor& x, const at::Tensor& weight_H) {
  const at::Tensor x_fp32 = x.to(at::kFloat);
  const at::Tensor mean_square = x_fp32.pow(2).mean(-1, /*keepdim=*/true);
  return weight_H * (x_fp32 * at::rsqrt(mean_square + kCaseEpsilon)).to(x.scalar_type());
}

}  // namespace headroom::kernels::row_norm
