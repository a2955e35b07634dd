// Computes    y = x · rstd · w with rstd = 1 / √(mean(x²) + ε); backward dx, dw
// Shapes      x, y, dy, dx [rows, width]; w, dw [width]; rstd [rows] fp32
// Precision   storage fp32, bf16 or fp16; arithmetic fp32
// Memory      moves 2·rows·width elements forward, 3·rows·width backward (4 with d_sum), and fp32 partial sums of dw
// Variants    rows of whole 16-byte vectors (row_norm_forward.cuh, row_norm_backward.cuh); any width and address
//             (row_norm_wide.cuh)
// Source      Zhang, Sennrich 2019, arXiv:1910.07467, equation 4
// Checked by  tests/kernels/layers/norms_cases.cpp
#include "kernels/rms_norm/rms_norm.h"

#include "kernels/row_norm/row_norm_backward.cuh"
#include "kernels/row_norm/row_norm_forward.cuh"

namespace headroom::kernels {

int rms_norm_forward_cuda(const NormForward& norm, CUstream_st* stream) {
  return with_storage(
      norm.storage, [&](auto type) { return row_norm::launch_forward<decltype(type), NormKind::kRms>(norm, stream); });
}

int rms_norm_rebuild_cuda(const NormForward& norm, CUstream_st* stream) {
  return with_storage(norm.storage, [&](auto type) {
    return row_norm::launch_forward<decltype(type), NormKind::kRebuildRms>(norm, stream);
  });
}

int rms_norm_backward_cuda(const NormBackward& norm, CUstream_st* stream) {
  return with_storage(norm.storage,
                      [&](auto type) { return row_norm::launch_backward<decltype(type), false>(norm, stream); });
}

}  // namespace headroom::kernels
