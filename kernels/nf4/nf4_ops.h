// Weights in NF4 with double quantization (Dettmers et al. 2023, arXiv:2305.14314).
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

// weight: fp32, bf16 or fp16, contiguous. Uses fp32 [⌈n/64⌉] of scratch. An inf or NaN spreads to the mean, and thus to
// the whole matrix.
Nf4Matrix nf4_quantise(const at::Tensor& weight);

// The weight in `type` (fp32, bf16 or fp16). One launch, one allocation.
at::Tensor nf4_dequantise(const Nf4Matrix& matrix, at::ScalarType type);

at::Tensor nf4_reference(const at::Tensor& weight);

}  // namespace headroom::kernels
