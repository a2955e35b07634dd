// The gradient of an embedding table on tensors.
#pragma once

#include <ATen/ATen.h>

namespace headroom::kernels {

// dweight[v] = Σ over tokens n with ids[n] = v of dy[n], summed in fp32 in the order of n, so that two runs give the
// same bits. dy [N, H] fp32, bf16 or fp16; ids [N] int64; dweight [V, H] of dy's type or fp32; all contiguous, on one
// device: CPU, CUDA, or meta (where it allocates its workspace and computes nothing). accumulate: adds to dweight
// (rows without a token are not touched); else every row is written, so dweight needs no zero fill. Its workspace is
// small beside dy: 2 (V + N) integers and H floats for every 32 tokens. Throws c10::Error if the tensors do not fit
// each other, and on the CPU if an id is outside the table, naming it; on CUDA such tokens are left out.
void embedding_backward(const at::Tensor& dy_NH, const at::Tensor& ids_N, const at::Tensor& dweight_VH,
                        bool accumulate);

// The same in float64 from plain operators, as a new table.
at::Tensor embedding_backward_reference(const at::Tensor& dy_NH, const at::Tensor& ids_N, std::int64_t vocab_size);

}  // namespace headroom::kernels
