// Computes    sum = x + residual; y = sum · rstd · w with rstd = 1 / √(mean(sum²) + ε)
// Shapes      x, residual, sum, y [rows, width]; w [width]; rstd [rows] fp32
// Precision   storage fp32, bf16 or fp16; arithmetic fp32, on the sum as stored
// Memory      moves 4·rows·width elements
// Variants    rows of whole 16-byte vectors (row_norm_forward.cuh); any width and address (row_norm_wide.cuh)
// Source      Zhang, Sennrich 2019, arXiv:1910.07467, equation 4
// Checked by  tests/kernels/layers/norms_cases.cpp
#include "kernels/add_rms_norm/add_rms_norm.h"

#include "kernels/row_norm/row_norm_forward.cuh"

namespace headroom::kernels {

int add_rms_norm_forward_cuda(const NormForward& norm, CUstream_st* stream) {
  return with_storage(norm.storage, [&](auto type) {
    return row_norm::launch_forward<decltype(type), NormKind::kAddRms>(norm, stream);
  });
}

}  // namespace headroom::kernels
