// Weights in four bits: NF4 with double quantization, on tensors (Dettmers et al. 2023, arXiv:2305.14314).
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/nf4/nf4.h"

namespace headroom::kernels {

// A matrix in NF4. The weight of element i is
//   kNf4Levels[code(i)] · (mean + scale[i / 64 / 256] · dynamic(absmax_codes[i / 64]))
// with the signed dynamic map of kernels/common/dynamic_code.h.
struct Nf4Matrix {
  at::Tensor codes;         // uint8 [⌈n/2⌉]: element 2 j in the high half of byte j, 2 j + 1 in the low half
  at::Tensor absmax_codes;  // uint8 [⌈n/64⌉]
  at::Tensor absmax_scale;  // fp32 [⌈⌈n/64⌉/256⌉]
  at::Tensor absmax_mean;   // fp32 [1]
  std::vector<std::int64_t> shape;
};

// weight: fp32, bf16 or fp16, contiguous, on CPU, CUDA or meta. For as long as it runs it also holds fp32 [⌈n/64⌉]. An
// inf or NaN anywhere leaves nothing finite in the whole matrix, by the mean.
Nf4Matrix nf4_quantise(const at::Tensor& weight);

// The weight in `type` (fp32, bf16 or fp16), of the matrix' shape. One launch, one allocation.
at::Tensor nf4_dequantise(const Nf4Matrix& matrix, at::ScalarType type);

// Both together in float64 on the CPU from plain tensor operations: the nearest level of each weight divided by its
// block's absmax, times the absmax as double quantization leaves it.
at::Tensor nf4_reference(const at::Tensor& weight);

}  // namespace headroom::kernels
