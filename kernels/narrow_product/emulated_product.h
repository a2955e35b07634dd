// GEMMs without tensor cores, for operands that the GPU's tensor cores cannot read.
#pragma once

#include "kernels/fused_linear_cross_entropy/product.h"

namespace headroom::kernels {

// 10 × the compute capability of the first GPUs whose tensor cores read the format.
inline constexpr int kTf32Capability = 80;
inline constexpr int kFp8Capability = 89;

// Like multiply(), for fp8 codes with b transposed and a bf16 result, and for fp32 operands read as tf32. alpha and
// beta are on the host; the workspace is unused. Sums are fp32, in another order than a tensor core's.
int multiply_emulated(const Product& product, const ProductMemory& memory, CUstream_st* stream);

}  // namespace headroom::kernels
