// The gradient of an embedding table on tensors.
#pragma once

#include <ATen/ATen.h>

namespace headroom::kernels {

// dweight[v] = Σ dy[n] over tokens n with ids[n] = v, summed in fp32 in the order of n, so two runs give the same bits.
// dy [N, H] fp32, bf16 or fp16; ids [N] int64; dweight [V, H] of dy's type or fp32; all contiguous on one device.
// Without `accumulate` every row is overwritten. Allocates 2 (V + N) integers, and H floats per 32 tokens, on meta as
// well. Throws c10::Error if tensors do not fit, and on the CPU for an id outside the table, which CUDA skips.
void embedding_backward(const at::Tensor& dy_NH, const at::Tensor& ids_N, const at::Tensor& dweight_VH,
                        bool accumulate);

// In float64, as a new table.
at::Tensor embedding_backward_reference(const at::Tensor& dy_NH, const at::Tensor& ids_N, std::int64_t vocab_size);

}  // namespace headroom::kernels
