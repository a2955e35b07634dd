// Computes    y = (x − mean) · rstd · w + b with rstd = 1 / √(mean((x − mean)²) + ε); backward dx, dw, db
// Shapes      x, y, dy, dx [rows, width]; w, b, dw, db [width]; mean, rstd [rows] fp32
// Precision   storage fp32, bf16 or fp16; arithmetic fp32; the variance is that of the centered row
// Memory      moves 2·rows·width elements forward, 3·rows·width backward, and fp32 partial sums of dw and db
// Variants    rows of whole 16-byte vectors, 16,384 columns at most (row_norm_forward.cuh, row_norm_backward.cuh); any
//             width and address (row_norm_wide.cuh)
// Source      Ba, Kiros, Hinton 2016, arXiv:1607.06450, equation 4
// Checked by  tests/kernels/layers/norms_cases.cpp
#include "kernels/layer_norm/layer_norm.h"

#include "kernels/row_norm/row_norm_backward.cuh"
#include "kernels/row_norm/row_norm_forward.cuh"

namespace headroom::kernels {

int layer_norm_forward_cuda(const NormForward& norm, CUstream_st* stream) {
  return with_storage(norm.storage, [&](auto type) {
    return row_norm::launch_forward<decltype(type), NormKind::kLayer>(norm, stream);
  });
}

int layer_norm_backward_cuda(const NormBackward& norm, CUstream_st* stream) {
  return with_storage(norm.storage,
                      [&](auto type) { return row_norm::launch_backward<decltype(type), true>(norm, stream); });
}

}  // namespace headroom::kernels
