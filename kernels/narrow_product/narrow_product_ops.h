// Matrix products of linear layers, on tensors: by LibTorch, or with operands of fewer bits than fp32 or bf16.
#pragma once

#include <ATen/ATen.h>

namespace headroom::kernels {

struct ProductOptions {
  bool adds = false;  // to what the result holds
  double alpha = 1;   // the product is multiplied by it
  // fp32 operands are read with 10 bits of fraction, products are exact, and sums are fp32: NVIDIA's TF32 tensor cores. A
  // GPU before Ampere computes in fp32. On a CPU the operands are rounded a tile at a time, which takes 3 MiB of the
  // process and nothing of LibTorch's allocator.
  bool tf32 = false;
};

// result [N, P] = alpha · a [N, M] · b [M, P], or that added to it. All of one type, any strides.
void product(at::Tensor& result_NP, const at::Tensor& a_NM, const at::Tensor& b_MP, const ProductOptions& options = {});

}  // namespace headroom::kernels
