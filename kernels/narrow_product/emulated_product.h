// Matrix products whose operands the GPU's tensor cores cannot read, without tensor cores. No torch.
#pragma once

#include "kernels/fused_linear_cross_entropy/product.h"

namespace headroom::kernels {

// The GPUs whose tensor cores read the format: 10 × compute capability.
inline constexpr int kTf32Capability = 80;
inline constexpr int kFp8Capability = 89;

// As multiply() of product.h, in the same memory: for codes of fp8 with a bf16 result, where b is transposed, and for fp32
// operands that are read as tf32; alpha and beta are the host's, and the workspace is not used. Sums are fp32, in another
// order than a tensor core's.
int multiply_emulated(const Product& product, const ProductMemory& memory, CUstream_st* stream);

}  // namespace headroom::kernels
